"""Print one line per skipped test of a `go test -json` log: its name and why."""
import collections
import json
import sys

said = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="utf-8"):
    try:
        event = json.loads(line)
    except ValueError:
        continue
    key = (event.get("Package", "").rsplit("/", 1)[-1], event.get("Test"))
    if not key[1]:
        continue
    if event["Action"] == "output":
        text = event["Output"].strip()
        if text and not text.startswith(("===", "---")):
            said[key].append(text)
    elif event["Action"] == "skip":
        print("%s %s\t%s" % (key[0], key[1], " ".join(said[key])))
    elif event["Action"] in ("pass", "fail"):
        said.pop(key, None)

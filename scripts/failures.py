"""Print what failed in `go test -json` logs, and the end of what it said: the last lines of a long run are what is read."""
import collections
import json
import sys

TESTS, LINES, WIDTH = 12, 14, 240

for log in sys.argv[1:]:
    said, failed = collections.defaultdict(list), []
    for line in open(log, encoding="utf-8"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        key = (event.get("Package", event.get("ImportPath", "")).split("/internal/")[-1], event.get("Test", ""))
        action = event.get("Action")
        if action in ("output", "build-output"):
            text = event["Output"].rstrip()
            if text and not text.lstrip().startswith(("=== ", "ok ")):
                said[key].append(text[:WIDTH])
            if text.startswith("panic: ") and key not in failed:
                failed.append(key)  # the test that was running: nothing else says that it failed
        elif action in ("pass", "skip"):
            said.pop(key, None)
        elif action in ("fail", "build-fail") and key not in failed:
            failed.append(key)
    # of a test and its subtests only the innermost has something to say, of a package only what no test of it says
    inner = [k for k in failed if not any(o != k and o[0] == k[0] and (not k[1] or o[1].startswith(k[1] + "/")) for o in failed)]
    for package, test in inner[:TESTS]:
        print("%s %s" % (package, test))
        lines = said[(package, test)]
        # a test that hangs is named at the head of a long list of goroutines
        first = next((i for i, text in enumerate(lines) if text.startswith("panic: ")), None)
        for text in lines[first:][:LINES] if first is not None else lines[-LINES:]:
            print("    " + text)
    if len(inner) > TESTS:
        print("… and %d more in %s" % (len(inner) - TESTS, log))

#!/usr/bin/env python3
"""Makes a fleet of one host: copies its record in Ironic's database and its entry in Terraform's state.

  copy-hosts.py IRONIC.SQLITE TERRAFORM.TFSTATE COUNT

The host is number 0 of metal3_baremetal_host.h, with the MAC address 52:54:00:00:00:00. Copies get names, UUIDs and MAC
addresses of their own, and the claim that the provider computes of the name. COUNT 0 removes all but the host itself.
"""
import json
import sqlite3
import sys
import uuid

database, state_file, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
claims = uuid.uuid5(uuid.NAMESPACE_URL, "https://github.com/terraform-metal3/terraform-provider-metal3/claim")
first_mac = "52:54:00:00:00:00"

with open(state_file) as f:
    state = json.load(f)
hosts = next(r for r in state["resources"] if r["type"] == "metal3_baremetal_host")
first = next(i for i in hosts["instances"] if i["index_key"] == 0)
name, node_id = first["attributes"]["name"], first["attributes"]["id"]
namespace = first["attributes"]["namespace"]
prefix = name.rsplit("-", 1)[0]
db = sqlite3.connect(database, timeout=60)
db.row_factory = sqlite3.Row


def claim(n):
    return str(uuid.uuid5(claims, f"host/{namespace}/{n}"))


def changed(text, i):
    """What is the first host's own, made number i's."""
    new = f"{prefix}-{i}"
    for old, now in (
        (node_id, str(uuid.uuid5(uuid.UUID(node_id), new))),
        (claim(name), claim(new)),
        (first_mac, f"52:54:00:00:{i // 256:02x}:{i % 256:02x}"),
        (f"fake-hardware://{name}", f"fake-hardware://{new}"),
        (f"/{name}\"", f"/{new}\""),
        (f"~{name}\"", f"~{new}\""),
        (f"\"{name}\"", f"\"{new}\""),
    ):
        text = text.replace(old, now)
    return text


def copy(table, row, i, **more):
    row = {k: changed(json.dumps(v), i) for k, v in dict(row).items() if k != "id"}
    row = {k: json.loads(v) for k, v in row.items()}
    # documents within columns hold quoted names of their own
    row = {k: changed(v, i) if isinstance(v, str) else v for k, v in row.items()}
    row.update(more)
    columns = ", ".join(row)
    return db.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(row))})", list(row.values())).lastrowid


with db:
    node = db.execute("SELECT * FROM nodes WHERE uuid = ?", (node_id,)).fetchone()
    port = db.execute("SELECT * FROM ports WHERE node_id = ?", (node["id"],)).fetchone()
    have = {r["name"] for r in db.execute("SELECT name FROM nodes")}
    node_name = node["name"]
    copies = [n for n in have if n.startswith(node_name[: -len("0")]) and n != node_name]
    if count == 0:
        for n in copies:
            row = db.execute("SELECT id FROM nodes WHERE name = ?", (n,)).fetchone()
            db.execute("DELETE FROM ports WHERE node_id = ?", (row["id"],))
            db.execute("DELETE FROM nodes WHERE id = ?", (row["id"],))
    for i in range(1, count):
        if node_name[: -len("0")] + str(i) in have:
            continue
        port_uuid = str(uuid.uuid5(uuid.UUID(port["uuid"]), str(i)))
        copy("ports", port, i, uuid=port_uuid, node_id=copy("nodes", node, i))

text = json.dumps(first)
hosts["instances"] = [first]
for i in range(1, count):
    entry = json.loads(changed(text, i))
    entry["index_key"] = i
    entry.pop("private", None)  # what it says is of the first host's record
    hosts["instances"].append(entry)
state["serial"] += 1
with open(state_file, "w") as f:
    json.dump(state, f)

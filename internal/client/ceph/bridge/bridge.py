# Copyright The terraform-provider-metal3 Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs on a host of a Ceph cluster: commands come in, answers go out, one JSON object a line.

Arguments: ceph.conf, name and keyring of the client (each may be empty), seconds to reach a monitor, seconds of a
command. The first line out says how the cluster was reached. Python 3.6 is enough.
"""
import base64
import json
import os
import queue
import sys
import threading
import time


def main():
    conf, name, keyring, connect, limit = sys.argv[1:6]

    # Whatever else is printed must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**fields):
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    try:
        import rados
    except Exception as e:  # absent, or made for another librados
        say(bridge=1, rc=-2, no="librados", s=str(e))
        os._exit(41)

    options = {"client_mount_timeout": connect, "rados_mon_op_timeout": limit}
    if keyring:
        options["keyring"] = keyring

    cluster = None
    try:
        cluster = rados.Rados(name=name or "client.admin", conffile=conf, conf=options)
        cluster.connect()
        say(bridge=1, rc=0, fsid=cluster.get_fsid(), librados=str(cluster.version()))
    except Exception as e:
        say(bridge=1, rc=-(getattr(e, "errno", None) or 5), s=str(e))
        end(cluster, 42)

    lines = queue.Queue()
    threading.Thread(target=read, args=(lines,), daemon=True).start()

    try:
        for line in iter(lines.get, None):
            say(**answer(cluster, json.loads(line.decode()), limit))
    finally:  # nobody may be left to hear it
        end(cluster, 0)


def read(lines):
    """Puts the lines of standard input into the queue. At its end nobody waits for an answer."""
    for line in sys.stdin.buffer:
        lines.put(line)

    while not lines.empty():
        lines.get()

    lines.put(None)
    time.sleep(5)
    os._exit(43)  # librados does not return


def answer(cluster, q, limit):
    try:
        cluster.conf_set("rados_mon_op_timeout", str(q.get("limit") or limit))
        send = cluster.mgr_command if q.get("to") == "mgr" else cluster.mon_command
        rc, out, status = send(q["cmd"], base64.b64decode(q.get("in") or ""))
    except Exception as e:
        rc, out, status = -(getattr(e, "errno", None) or 5), b"", str(e)

    return {"id": q.get("id"), "rc": rc, "s": status or "", "out": base64.b64encode(out or b"").decode()}


def end(cluster, code):
    """Ends the process. A librados that was not shut down aborts it now and then (16, OpenSSL 3)."""
    try:
        if cluster is not None:
            cluster.shutdown()
    finally:
        os._exit(code)


main()

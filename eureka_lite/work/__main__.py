"""The worker process: `python -m eureka_lite.work TASK_FOLDER`.

Reads one JSON request a line from standard input, writes events (`store.events`) a line each to standard output. All
that a library prints goes to standard error. It ends when its parent does.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sys
import tempfile
import threading
from typing import TextIO

from eureka_lite.store.events import Event


def main() -> None:
    """Serve requests until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def emit(event: Event) -> None:
        with lock:
            pipe.write(event.to_json() + "\n")
            pipe.flush()

    folder, threads = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    scratch = tempfile.mkdtemp(prefix="eureka-lite-")
    os.chdir(scratch)  # MuJoCo drops its log in the current folder
    requests: queue.Queue[dict] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin, requests, scratch), daemon=True).start()
    from eureka_lite.work.serve import serve

    try:
        serve(folder, threads, requests, emit)
    except BrokenPipeError:
        pass


def _listen(stdin: TextIO, requests: queue.Queue[dict], scratch: str) -> None:
    for line in stdin:
        requests.put(json.loads(line))
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(0)  # the parent is gone: nobody waits for what is being computed


if __name__ == "__main__":
    main()

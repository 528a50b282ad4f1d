"""The command `vllm`, with processes that sleep while they wait for each other.

vLLM's workers and the loop of its engine wait for messages by spinning, for up to a second. On a machine with few cores
this starves the front end and the client, and a benchmark would measure the scheduler. Processes that vLLM spawns
import this file too, so the change applies to them as well.
"""

import sys
import time
from functools import partial

from vllm.distributed.device_communicators import shm_broadcast

shm_broadcast.sched_yield = partial(time.sleep, 0.0002)

if __name__ == "__main__":
    from vllm.entrypoints.cli.main import main

    sys.exit(main())

"""Worker: the process in which files of strangers are read and bodies are fitted; it may crash, and it has limits."""

from __future__ import annotations

import contextlib
import os
import signal
from multiprocessing.connection import Connection
from typing import Any

from poise.errors import PoiseError
from poise.studio.gait.making import made
from poise.studio.gait.order import Order

#: How much less important than the simulation this is, 0 to 19.
NICE = 10
#: Bytes that it may take, and s of a core: the largest file, 26 000 frames as TRC, takes 0.9 GB and 80 s. Whoever
#: started it looks at the clock, but may be gone.
MEMORY, CORE = 4 << 30, 600


def work(wire: Connection, order: Order) -> None:
    """Tells ("progress", words, share), and at last ("done", exhibit) or ("refused", one line)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    confine()
    result: tuple[str, Any]
    try:
        result = "done", made(order, lambda words, share: wire.send(("progress", words, share)))
    except PoiseError as error:
        result = "refused", line(str(error))
    except MemoryError:
        result = "refused", f"'{order.title}' is too large to be fitted here; cut it to some strides"
    except Exception as error:  # whatever nonsense in a file makes its readers say: the user wants a line to read
        result = "refused", line(f"'{order.title}' cannot be used ({type(error).__name__}: {error})")
    with contextlib.suppress(OSError):  # nobody waits for it any more
        wire.send(result)


def confine() -> None:
    """Takes no more than its share of the machine."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CORE, CORE))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def line(text: str) -> str:
    """On one line, and not a page long."""
    return " ".join(text.split())[:400]

"""Messages between two processes over a pipe: a pickle after its length in eight bytes."""

import pickle
from time import monotonic
from typing import IO, Any

Message = tuple[Any, ...]


def write(stream: IO[bytes], message: Message) -> None:
    """Send one message. Raises OSError if nobody reads any more."""
    data = pickle.dumps(message)
    stream.write(len(data).to_bytes(8, "big"))
    stream.write(data)
    stream.flush()


def read(stream: IO[bytes]) -> tuple[Message, float] | None:
    """Return one message and the moment at which it began to arrive; None at the end."""
    head = stream.read(8)
    began = monotonic()
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == 8 else b""
    return (pickle.loads(data), began) if data and len(data) == size else None

"""Many requests at a time, through OpenAI's client, and when each token of their answers came."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import openai
from workload import PROMPT, Asked

# Parameters that OpenAI's interface does not have.
VLLM_OWN = ("structured_outputs", "vllm_xargs")
# Pieces after which a client that goes away is gone.
HALF_WAY = 5


@dataclass
class Answer:
    """What came back.

    Attributes:
        asked: the request.
        status: the status of HTTP; 0 if the connection failed.
        text: the output, or the tool calls as JSON, or the error's message.
        finish: why the text ended; "" if the client went away, or for an error.
        sent: when the request was sent, in seconds.
        times: when each piece of a stream came.
        num_tokens: how many tokens were written; 0 if not known.
    """

    asked: Asked
    status: int = 200
    text: str = ""
    finish: str = ""
    sent: float = 0.0
    done: float = 0.0
    times: list[float] = field(default_factory=list)
    num_tokens: int = 0
    calls: dict[int, dict[str, str]] = field(default_factory=dict)

    @property
    def problem(self) -> str:
        """What is wrong with the answer; "" for nothing."""
        asked = self.asked
        if asked.reason:
            right = self.status == 400 and asked.reason in self.text
            return "" if right else f"{self.status}, without {asked.reason!r}: {self.text}"
        if asked.kind == "hostile":
            return "" if self.status in (400, 500) or self.finish else f"{self.status}: {self.text}"
        if self.status != 200:
            return f"{self.status}: {self.text}"
        if asked.check is None or self.finish == "length" or asked.cancelled:
            return ""
        try:
            asked.check(self.text)
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]} in {self.text!r}"
        return ""


def send_all(url: str, requests: Sequence[Asked], at_a_time: int = 64) -> list[Answer]:
    """Send requests in their order, so many at a time; return the answers in the same order."""
    return asyncio.run(_send_all(url, requests, at_a_time))


async def _send_all(url: str, requests: Sequence[Asked], at_a_time: int) -> list[Answer]:
    places = asyncio.Semaphore(at_a_time)
    # A connection is used once: a server closes idle ones, sometimes just when the next request is sent.
    limits = httpx.Limits(max_keepalive_connections=0)
    async with (
        httpx.AsyncClient(limits=limits, timeout=300) as http,
        openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http) as client,
    ):

        async def one(asked: Asked) -> Answer:
            async with places:
                return await _send(client, asked)

        return list(await asyncio.gather(*map(one, requests)))


async def _send(client: openai.AsyncOpenAI, asked: Asked) -> Answer:
    answer = Answer(asked, sent=time.monotonic())
    try:
        if asked.cancelled and not asked.stream:
            seconds = random.Random(str(asked.body)).uniform(0.01, 0.3)
            await asyncio.wait_for(_receive(client, answer), seconds)
        else:
            await _receive(client, answer)
    except TimeoutError:
        answer.finish = ""
    except openai.APIStatusError as error:
        answer.status, answer.text = error.status_code, str(error)
    except openai.APIError as error:  # an error in the middle of a stream, or no connection
        answer.status, answer.text = (0 if isinstance(error, openai.APIConnectionError) else 500), str(error)
    answer.done = time.monotonic()
    return answer


async def _receive(client: openai.AsyncOpenAI, answer: Answer) -> None:
    asked, body = answer.asked, dict(answer.asked.body)
    options: dict[str, Any] = {name: body.pop(name) for name in list(body) if name not in VLLM_OWN}
    options |= {"model": "bundled", "extra_body": body, "stream": asked.stream}
    if asked.stream:
        options["stream_options"] = {"include_usage": True}
    create: Any = client.chat.completions.create if asked.chat else client.completions.create
    given = {"messages": [{"role": "user", "content": PROMPT}]} if asked.chat else {"prompt": PROMPT}
    received = await create(**options, **given)
    if not asked.stream:
        _take(answer, received.choices[0], received.choices[0].message if asked.chat else None)
        answer.num_tokens = received.usage.completion_tokens
    else:
        async for piece in received:
            if piece.usage is not None:
                answer.num_tokens = piece.usage.completion_tokens
            for choice in piece.choices:
                answer.times.append(time.monotonic())
                _take(answer, choice, choice.delta if asked.chat else None)
            if asked.cancelled and len(answer.times) >= HALF_WAY:
                await received.close()
                break
    if answer.calls:
        answer.text = json.dumps(list(answer.calls.values()))


def _take(answer: Answer, choice: Any, message: Any) -> None:
    """Add a piece of an answer."""
    answer.text += (message.content if message is not None else choice.text) or ""
    answer.finish = choice.finish_reason or answer.finish
    for number, call in enumerate(getattr(message, "tool_calls", None) or []):
        known = answer.calls.setdefault(getattr(call, "index", number), {"name": "", "arguments": ""})
        known["name"] += call.function.name or ""
        known["arguments"] += call.function.arguments or ""

# SPDX-License-Identifier: Apache-2.0
"""Each wrong use ends with an exception and its sentence, or does no harm. Never with a signal."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import wrong_uses

FINE = (0, "no harm")
EXITS = (0, "")
ENDS: dict[str, tuple[int, str]] = {
    "freed_array": FINE,
    "resized_bytearray": (1, "BufferError: Existing exports of data"),
    "released_view": (1, "BufferError: memoryview has 1 exported buffer"),
    "read_only_buffer": (1, "InvalidError: memory: this bytes may only be read, and the rights let peers write"),
    "read_only_array": (1, "InvalidError: memory: this numpy.ndarray may only be read"),
    "get_into_bytes": (1, "may only be read: a get writes into it"),
    "array_of_objects": (1, "InvalidError: memory: this numpy.ndarray holds Python objects"),
    "not_contiguous": (1, "InvalidError: memory: this numpy.ndarray is not contiguous: copy it first"),
    "no_buffer": (1, "InvalidError: memory: list has no buffer and is no DLPack tensor"),
    "empty_buffer": (1, "InvalidError: memory: this bytearray is empty"),
    "device_tensor": (1, "UnsupportedError: memory: this OnDevice lies on a device (DLPack type 2)"),
    "wrong_dtype": (1, "InvalidError: no dtype 'float16' of atomics; there are int32"),
    "operand_too_large": (1, "InvalidError: 1099511627776 is no int32"),
    "negative_size": (1, "InvalidError: a region of -4096 bytes"),
    "negative_part": (1, "OutOfRangeError: region[-8:64] is no part of 64 bytes"),
    "negative_offset": (1, "InvalidError: an offset of -8 bytes"),
    "huge_number": (1, "InvalidError: operations is 1099511627776"),
    "outside_of_the_region": (1, "OutOfRangeError: put: out_of_range: the transfer leaves the region"),
    "right_not_granted": (1, "DeniedError: put: denied: the region does not grant this right"),
    "forgotten_progress": (1, "AgainError: get has not ended: call wait(), or poll"),
    "deadline_of_zero": (1, "DeadlineError: no Message came in 0 s"),
    "negative_deadline": (1, "InvalidError: a timeout of -1 s"),
    "deadline_that_is_no_number": (1, "InvalidError: a timeout of nan s"),
    "deadline_of_text": (1, "TypeError: a timeout is a number of seconds, not str"),
    "closed_transport": (1, "ClosedError: weft_register: this transport was closed"),
    "closed_region": (1, "ClosedError: this region is closed: register the memory again"),
    "closed_peer": (1, "PeerLostError: weft_send_copy: this peer is gone"),
    "region_closed_too_early": (1, "is used by 1 operation under way (get): wait for them, then close it"),
    "region_of_another": (1, "ClosedError: weft_put: this region was released, or belongs to another transport"),
    "put_of_bytes": (1, "TypeError: a transfer moves a region or a part of one, not bytes: register it first"),
    "message_too_large": (1, "TruncatedError: send: truncated: the message is larger than the peer's receive slots"),
    "nobody_there": (1, "UnreachableError: out-of-band exchange: no listener answers at 127.0.0.1:1"),
    "no_address": (1, "InvalidError: \"somewhere\" is not host:service"),
    "port_in_use": (1, "NativeError: weft_open: port"),
    "unknown_fabric": (1, "has no fabric \"carrier_pigeon\""),
    "garbled_description": (1, "InvalidError: these bytes are not a region description"),
    "other_thread": (1, "InvalidError: another thread is in a call of this transport"),
    "forked": FINE,
    "forked_while_a_thread_is_inside": FINE,
    "exit_under_way": EXITS,
    "exit_with_a_thread_inside": EXITS,
    "lost_references": FINE,
    "callback_raises": (1, "ZeroDivisionError"),
    "closed_in_a_callback": (1, "ClosedError: put: the transport was closed"),
    "list_of_different_lengths": (1, "InvalidError: local_offsets has 64 numbers and lengths has 2"),
    "list_of_floats": (1, "TypeError: local_offsets are whole numbers"),
    "list_that_shrinks": FINE,
    "list_of_texts": (1, "TypeError: lengths are whole numbers"),
    "list_of_negative_offsets": (1, "InvalidError: remote_offsets[0] is below 0"),
    "list_of_two_dimensions": (1, "not an array of 2 dimensions"),
    "list_without_transfers": (1, "InvalidError: weft_prepare_list: the list is empty"),
    "list_into_bytes": (1, "may only be read: a get writes into it"),
    "list_of_freed_arrays": FINE,
    "list_of_a_closed_region": (1, "ClosedError: weft_post_list: a region of this list was released"),
    "list_of_another_peer": (1, "this remote region belongs to another peer"),
    "list_after_its_end": (1, "ClosedError: this prepared get_list is closed"),
    "list_cancelled_twice": (1, "ClosedError: get_list: cancelled"),
    "list_of_a_closed_transport": (1, "ClosedError: get_list: the transport was closed"),
    "list_notice_of_gets": (1, "InvalidError: weft_post_list: a list of gets carries no notice"),
    "list_limits_too_late": (1, "InvalidError: weft_limit_lists: this transport has lists already"),
    "list_never_polled": (1, "AgainError: get_list has not ended"),
    "exit_with_a_list_under_way": EXITS,
    "tag_too_wide": (1, "InvalidError: tag has 64 bits: 18446744073709551616 is not in 0 to 2**64 - 1"),
    "tag_of_text": (1, "TypeError: tag is a whole number of 64 bits, not str"),
    "tagged_into_bytes": (1, "may only be read: a receive writes into it"),
    "tagged_into_a_closed_region": (1, "ClosedError: this region is closed: register the memory again"),
    "tagged_region_closed_too_early": (1, "is used by 1 operation under way (receive_tagged): wait for them"),
    "tagged_of_freed_arrays": FINE,
    "tagged_of_a_closed_peer": (1, "PeerLostError: weft_receive_tagged: this peer is gone"),
    "tagged_of_another_transport": (1, "ClosedError: weft_receive_tagged: this region was released, or belongs to"),
    "tagged_of_no_peer": (1, "TypeError: peer is a weft.Peer or None, not int"),
    "tagged_never_polled": (1, "AgainError: receive_tagged has not ended"),
    "exit_with_a_tagged_receive": EXITS,
    "no_callback": (1, "TypeError: a callback can be called, and int cannot"),
    "await_without_a_loop": (1, "InvalidError: nothing makes progress for this await"),
    "loop_without_sleeps": (1, "InvalidError: weft_wait_descriptor: open the transport with WEFT_SLEEPS"),
    "interrupted": (130, "KeyboardInterrupt"),
}


def test_every_wrong_use_has_an_end() -> None:
    made = {name for name, each in vars(wrong_uses).items()
            if callable(each) and getattr(each, "__module__", "") == "wrong_uses" and not isinstance(each, type)}
    assert made - {"alone"} == {name for name in made if name.startswith("_")} | set(ENDS)


@pytest.mark.parametrize("name", ENDS)
def test_a_wrong_use_is_no_crash(name: str) -> None:
    code, sentence = ENDS[name]
    # Users do not know the variables that keep libraries of PSM from taking SIGINT.
    environment = {variable: value for variable, value in os.environ.items() if not variable.endswith("_NO_BACKTRACE")}
    done = subprocess.run([sys.executable, "-B", str(Path(wrong_uses.__file__)), name], env=environment,
                          capture_output=True, text=True, timeout=90, check=False)
    # A program that KeyboardInterrupt ends kills itself by SIGINT, as the shell wants it: 130 there, -2 here.
    assert (130 if done.returncode == -2 else done.returncode) == code, done.stderr
    last = (done.stderr if code else done.stdout).strip().splitlines()
    assert sentence in (last[-1] if last else "")

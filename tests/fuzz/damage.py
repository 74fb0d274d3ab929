"""Damage to bytes: what disks, networks, editors and attackers do to files."""

EXTREMES = [
    *(value.to_bytes(4, "little") for value in (0, 1, 2**31 - 1, 2**31, 2**32 - 1)),
    *(value.to_bytes(8, "little") for value in (2**31, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1)),
]

TOKENS = [
    *(b"", b" ", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b'"', b"'", b",", b";", b"\\"),
    *(b"nan", b"-inf", b"1e400", b"-1e-400", b"1" * 400, b"9223372036854775808", b"0x10", b"1_000", b"True"),
    *(b"\xe2\x88\x921", b"1 234", b"12%", b"=1+1", b"@a", b"%", b"{", b"}", b"[", b"]", b"{}", b"[]", b":", b"::"),
    *(b"20000000:1", b"2000000000:1", b"99999999999999999999:1", b"-1:1", b"0:1", b"qid:1", b"#", b"?", b"null"),
    *(b"2024-02-30", b"9999-12-31", b"0001-01-01", b"\xf0\x9f\x99\x82", b"\xe2\x80\xae", b"\x1b[2J"),
]

CHANGES = ["flip", "random", "extreme", "extreme", "token", "token", "cut", "cut out", "repeat", "zeros", "swap"]


def damaged(content, generator):
    """The bytes after one to a few random changes."""
    content = bytearray(content)
    for _ in range(int(generator.integers(1, 4))):
        _change(content, generator, CHANGES[generator.integers(len(CHANGES))])
    return bytes(content)


def _place(content, generator, length=1):
    """A place in the content; half of all in its first or last kilobyte, where headers are."""
    last = max(1, len(content) - length + 1)
    if generator.random() < 0.5:
        near = int(generator.integers(min(1024, last)))
        return near if generator.random() < 0.5 else last - 1 - near
    return int(generator.integers(last))


def _change(content, generator, kind):
    """Change the content at a random place in one way."""
    length = int(2 ** generator.integers(0, 12 if kind == "cut out" else 9))
    at = _place(content, generator, 8 if kind == "extreme" else length if kind == "swap" else 1)
    part = content[at : at + length]
    if kind == "flip":
        for _ in range(int(generator.integers(1, 20)) if content else 0):
            content[_place(content, generator)] ^= 1 << int(generator.integers(8))
    elif kind == "random":
        content[at : at + length] = generator.bytes(length)
    elif kind == "extreme":
        value = EXTREMES[generator.integers(len(EXTREMES))]
        at -= at % 4 if generator.random() < 0.7 else 0
        content[at : at + len(value)] = value
    elif kind == "token":
        content[at : at + int(generator.integers(0, 8))] = TOKENS[generator.integers(len(TOKENS))]
    elif kind == "cut":
        del content[at:]
    elif kind == "cut out":
        del content[at : at + length]
    elif kind == "repeat":
        content[at:at] = part
    elif kind == "zeros":
        content[at : at + length] = bytes(len(part))
    else:
        other = _place(content, generator, length)
        content[at : at + length], content[other : other + length] = content[other : other + length], part

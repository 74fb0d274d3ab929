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


def damaged(content, generator):
    """The bytes after one to a few random changes."""
    content = bytearray(content)
    for _ in range(int(generator.integers(1, 4))):
        change = _CHANGES[generator.integers(len(_CHANGES))]
        change(content, generator)
    return bytes(content)


def _place(content, generator, length=1):
    """A place in the content; half of all in its first or last kilobyte, where headers are."""
    last = max(1, len(content) - length + 1)
    if generator.random() < 0.5:
        near = int(generator.integers(min(1024, last)))
        return near if generator.random() < 0.5 else last - 1 - near
    return int(generator.integers(last))


def _flip_bits(content, generator):
    for _ in range(int(generator.integers(1, 20)) if content else 0):
        content[_place(content, generator)] ^= 1 << int(generator.integers(8))


def _random_bytes(content, generator):
    at, length = _place(content, generator), int(2 ** generator.integers(0, 8))
    content[at : at + length] = generator.bytes(length)


def _extreme_number(content, generator):
    value = EXTREMES[generator.integers(len(EXTREMES))]
    at = _place(content, generator, len(value))
    at -= at % 4 if generator.random() < 0.7 else 0
    content[at : at + len(value)] = value


def _token(content, generator):
    at = _place(content, generator)
    content[at : at + int(generator.integers(0, 8))] = TOKENS[generator.integers(len(TOKENS))]


def _cut_end(content, generator):
    del content[_place(content, generator) :]


def _cut_out(content, generator):
    at = _place(content, generator)
    del content[at : at + int(2 ** generator.integers(0, 12))]


def _repeat(content, generator):
    at, length = _place(content, generator), int(2 ** generator.integers(0, 10))
    content[at:at] = content[at : at + length]


def _zeros(content, generator):
    at, length = _place(content, generator), int(2 ** generator.integers(0, 10))
    content[at : at + length] = bytes(len(content[at : at + length]))


def _swap(content, generator):
    length = int(2 ** generator.integers(0, 8))
    a, b = _place(content, generator, length), _place(content, generator, length)
    content[a : a + length], content[b : b + length] = content[b : b + length], content[a : a + length]


_CHANGES = [
    *(_flip_bits, _random_bytes, _extreme_number, _extreme_number, _token, _token),
    *(_cut_end, _cut_out, _repeat, _zeros, _swap),
]

"""Requests that two programs may parse differently, with the expected outcome of each.

If a proxy and a server disagree about where a request ends, the rest of it becomes the beginning of another
client's request. So ambiguous requests are rejected and the connection is closed: REFUSED. A few forms have
exactly one meaning in RFC 9112: PLAIN, with the expected number of answers.

Every case is followed by a request for /smuggled on the same connection, which must not be answered if the
request before it is rejected.
"""

REFUSED, PLAIN, EITHER = "refused", "plain", "either"
HOST = b"Host: localhost\r\n"
TEXT = b"Content-Type: text/plain\r\n"
POST = b"POST /v1/ingest HTTP/1.1\r\n" + HOST + TEXT


def get(*lines, version=b"HTTP/1.1", path=b"/health", host=HOST):
    return b"GET " + path + b" " + version + b"\r\n" + host + b"".join(lines) + b"\r\n"


def post(*lines, body=b""):
    return POST + b"".join(lines) + b"\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked\r\n"
END = b"0\r\n\r\n"

CASES = {
    # Two lengths, or an invalid one.
    "length_and_chunks": (post(b"Content-Length: 5\r\n", CHUNKED, body=END), REFUSED),
    "chunks_and_length": (post(CHUNKED, b"Content-Length: 5\r\n", body=END), REFUSED),
    "length_zero_and_chunks": (post(b"Content-Length: 0\r\n", CHUNKED, body=END), REFUSED),
    "two_lengths": (post(b"Content-Length: 4\r\nContent-Length: 5\r\n", body=b"abcde"), REFUSED),
    "two_same_lengths": (post(b"Content-Length: 5\r\nContent-Length: 5\r\n", body=b"abcde"), REFUSED),
    "length_list": (post(b"Content-Length: 5, 5\r\n", body=b"abcde"), REFUSED),
    "length_negative": (post(b"Content-Length: -1\r\n"), REFUSED),
    "length_plus": (post(b"Content-Length: +5\r\n", body=b"abcde"), REFUSED),
    "length_hex": (post(b"Content-Length: 0x5\r\n", body=b"abcde"), REFUSED),
    "length_with_letters": (post(b"Content-Length: 5x\r\n", body=b"abcde"), REFUSED),
    "length_with_blank": (post(b"Content-Length: 5 0\r\n", body=b"abcde"), REFUSED),
    "length_empty": (post(b"Content-Length: \r\n"), REFUSED),
    "length_fraction": (post(b"Content-Length: 5.0\r\n", body=b"abcde"), REFUSED),
    "length_over_64_bits": (post(b"Content-Length: 18446744073709551621\r\n", body=b"abcde"), REFUSED),
    "length_of_200_digits": (post(b"Content-Length: " + b"9" * 200 + b"\r\n"), REFUSED),
    "length_on_get_with_chunks": (get(b"Content-Length: 3\r\n", CHUNKED) + END, REFUSED),
    # Transfer codings other than chunked.
    "coding_identity": (post(b"Transfer-Encoding: identity\r\n"), REFUSED),
    "coding_gzip_chunked": (post(b"Transfer-Encoding: gzip, chunked\r\n", body=END), REFUSED),
    "coding_chunked_twice": (post(CHUNKED, CHUNKED, body=END), REFUSED),
    "coding_chunked_chunked": (post(b"Transfer-Encoding: chunked, chunked\r\n", body=END), REFUSED),
    "coding_xchunked": (post(b"Transfer-Encoding: xchunked\r\n", body=END), REFUSED),
    "coding_quoted": (post(b'Transfer-Encoding: "chunked"\r\n', body=END), REFUSED),
    "coding_comma": (post(b"Transfer-Encoding: ,chunked\r\n", body=END), REFUSED),
    "coding_empty": (post(b"Transfer-Encoding:\r\n", body=END), REFUSED),
    "coding_vertical_tab": (post(b"Transfer-Encoding: \x0bchunked\r\n", body=END), REFUSED),
    "coding_parameter": (post(b"Transfer-Encoding: chunked;x=1\r\n", body=END), REFUSED),
    "coding_then_identity": (post(CHUNKED, b"Transfer-Encoding: identity\r\n", body=END), REFUSED),
    "coding_in_http_1_0": (
        b"POST /v1/ingest HTTP/1.0\r\n" + HOST + TEXT + CHUNKED + b"\r\n" + END, REFUSED),
    "coding_folded": (post(b"Transfer-Encoding:\r\n chunked\r\n", body=END), REFUSED),
    "coding_upper_case": (post(b"TRANSFER-ENCODING: CHUNKED\r\n", body=END), PLAIN),
    # Header names and lines.
    "blank_before_colon": (post(b"Content-Length : 5\r\n", body=b"abcde"), REFUSED),
    "tab_before_colon": (post(b"Content-Length\t: 5\r\n", body=b"abcde"), REFUSED),
    "coding_blank_before_colon": (post(b"Transfer-Encoding : chunked\r\n", body=END), REFUSED),
    "header_without_colon": (get(b"Nonsense\r\n"), REFUSED),
    "header_without_name": (get(b": value\r\n"), EITHER),
    "header_begins_with_blank": (b"GET /health HTTP/1.1\r\n X: y\r\n" + HOST + b"\r\n", REFUSED),
    "header_folded": (get(b"X: a\r\n b\r\n"), EITHER),
    "host_folded": (b"GET /health HTTP/1.1\r\nHost:\r\n localhost\r\n\r\n", REFUSED),
    "name_with_umlaut": (get("Ä: b\r\n".encode()), REFUSED),
    "name_with_bracket": (get(b"X(y): b\r\n"), REFUSED),
    "name_with_control": (get(b"X\x01: b\r\n"), REFUSED),
    "nul_in_value": (get(b"X: a\0b\r\n"), EITHER),
    "nul_in_length": (post(b"Content-Length: 5\x000\r\n", body=b"abcde"), EITHER),
    "nul_in_name": (get(b"X\0y: b\r\n"), REFUSED),
    "nul_in_path": (get(path=b"/health\0x"), EITHER),
    "control_in_value": (get(b"X: a\x08b\r\n"), REFUSED),
    "bare_cr_in_value": (get(b"X: a\rContent-Length: 40\r\n"), REFUSED),
    "bare_cr_ends_line": (b"GET /health HTTP/1.1\rHost: localhost\r\r", REFUSED),
    # Hosts.
    "no_host": (get(host=b""), REFUSED),
    "two_hosts": (get(host=HOST + HOST), REFUSED),
    "two_different_hosts": (get(host=HOST + b"Host: evil.example\r\n"), REFUSED),
    "host_empty": (get(host=b"Host:\r\n"), REFUSED),
    "host_list": (get(host=b"Host: localhost, localhost\r\n"), REFUSED),
    "host_with_path": (get(host=b"Host: localhost/x\r\n"), REFUSED),
    # First lines.
    "http_0_9": (b"GET /health\r\n\r\n", REFUSED),
    "http_2": (get(version=b"HTTP/2.0"), REFUSED),
    "http_1_2_digits": (get(version=b"HTTP/1.11"), REFUSED),
    "http_lower_case": (get(version=b"http/1.1"), REFUSED),
    "no_version": (b"GET /health \r\n" + HOST + b"\r\n", REFUSED),
    "words_after_version": (get(version=b"HTTP/1.1 x"), REFUSED),
    "absolute_address": (get(path=b"http://evil.example/health"), REFUSED),
    "absolute_own_address": (get(path=b"http://localhost/health"), REFUSED),
    "authority": (get(path=b"evil.example:80"), REFUSED),
    "star": (get(path=b"*"), REFUSED),
    "connect": (b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + b"\r\n", REFUSED),
    "trace": (b"TRACE /health HTTP/1.1\r\n" + HOST + b"\r\n", REFUSED),
    "unknown_method": (b"SMUGGLE /health HTTP/1.1\r\n" + HOST + b"\r\n", REFUSED),
    "blank_in_path": (get(path=b"/health /x"), REFUSED),
    "tab_for_blank": (b"GET\t/health\tHTTP/1.1\r\n" + HOST + b"\r\n", REFUSED),
    "long_line": (get(path=b"/" + b"a" * 8193), REFUSED),
    "longer_line": (get(path=b"/" + b"a" * 100_000), REFUSED),
    "long_header": (get(b"X: " + b"a" * 17_000 + b"\r\n"), REFUSED),
    "longer_header": (get(b"X: " + b"a" * 100_000 + b"\r\n"), REFUSED),
    "many_headers": (get(*(b"X%d: a\r\n" % i for i in range(65))), REFUSED),
    # Chunks.
    "chunk_size_negative": (post(CHUNKED, body=b"-1\r\nabc\r\n" + END), REFUSED),
    "chunk_size_hex_prefix": (post(CHUNKED, body=b"0x3\r\nabc\r\n" + END), REFUSED),
    "chunk_size_over_64_bits": (post(CHUNKED, body=b"1" + b"0" * 16 + b"\r\nabc\r\n"), REFUSED),
    "chunk_size_word": (post(CHUNKED, body=b"three\r\nabc\r\n" + END), REFUSED),
    "chunk_size_empty": (post(CHUNKED, body=b"\r\nabc\r\n" + END), REFUSED),
    "chunk_longer_than_said": (post(CHUNKED, body=b"3\r\nabcdef\r\n" + END), REFUSED),
    "chunk_after_blank": (post(CHUNKED, body=b" 3\r\nabc\r\n" + END), REFUSED),
    "chunk_extension": (post(CHUNKED, body=b"3;x=y\r\nabc\r\n" + END), EITHER),
    "trailer": (post(CHUNKED, body=b"3\r\nabc\r\n0\r\nX: y\r\n\r\n"), PLAIN),
    # Unambiguous requests, which are accepted.
    "two_requests": (get() + get(), PLAIN),
    "body_on_get": (get(b"Content-Length: 5\r\n") + b"abcde", PLAIN),
    "length_zeros": (post(b"Content-Length: 0005\r\n", body=b"abcde"), PLAIN),
    "blank_after_value": (post(b"Content-Length: 5  \r\n", body=b"abcde"), EITHER),
    "empty_line_first": (b"\r\n" + get(), PLAIN),
    "bare_lf": (b"GET /health HTTP/1.1\nHost: localhost\n\n", EITHER),
}

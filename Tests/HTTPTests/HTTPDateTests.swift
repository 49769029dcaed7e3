import Testing

@testable import HTTP

struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, nil), (253_402_300_800, nil),
    ])
    func `a time is written as RFC 9110 writes it`(seconds: Int, text: String?) {
        #expect(HTTPDate.text(epochSeconds: seconds) == text)
    }

    @Test(arguments: [
        ("a.txt", "text/plain"), ("A.HTML", "text/html"), ("a.tar.gz", "application/gzip"),
        ("a", "application/octet-stream"), ("a.", "application/octet-stream"), ("", "application/octet-stream"),
        ("a.exe", "application/octet-stream"),
    ])
    func `a name says what a file holds`(name: String, type: String) {
        #expect(MediaType.of(Array(name.utf8)) == type)
    }
}

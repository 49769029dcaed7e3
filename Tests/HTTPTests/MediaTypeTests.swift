import Testing

@testable import HTTP

struct MediaTypeTests {
    @Test(arguments: [
        ("a.txt", "text/plain"), ("A.HTML", "text/html"), ("a.tar.gz", "application/gzip"),
        ("a", "application/octet-stream"), ("a.", "application/octet-stream"), ("", "application/octet-stream"),
        ("a.exe", "application/octet-stream"),
    ])
    func `a name says what a file holds`(name: String, type: String) {
        #expect(MediaType.of(Array(name.utf8)) == type)
    }
}

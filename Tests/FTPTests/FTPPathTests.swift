import Bytes
import Testing

@testable import FTP

struct FTPPathTests {
    @Test(arguments: [
        ("/a/b", "/a/b", false, false), ("/", "/", false, true), ("/a/", "/a/", false, true),
        ("/a;type=i", "/a", false, false), ("/a;type=A", "/a", true, false), ("/a;TYPE=d", "/a/", false, true),
        ("/a/;type=d", "/a/", false, true), ("/a;type=", "/a;type=", false, false), ("/a?b", "/a?b", false, false),
        (";type=a", "/", true, true),
    ])
    func `the type is no part of the path`(target: String, path: String, isText: Bool, isDirectory: Bool) {
        let read = FTPPath(target: Array(target.utf8).span)
        #expect(String(decoding: read.encoded, as: UTF8.self) == path)
        #expect(read.isText == isText)
        #expect(read.isDirectory == isDirectory)
    }

    @Test func `the same name can be a directory's`() {
        let path = FTPPath(target: Array("/a/b%20c".utf8).span)
        #expect(String(decoding: path.asDirectory.encoded, as: UTF8.self) == "/a/b%20c/")
        #expect(path.asDirectory.asDirectory == path.asDirectory)
        #expect(String(decoding: path.lastComponent, as: UTF8.self) == "b%20c")
    }

    @Test(arguments: [
        ("/a;type=d/b;c", "/a%3btype=d/b%3bc"), ("/what?now", "/what%3fnow"), ("/\u{e9}", "/%c3%a9"),
        ("/a%3bb", "/a%3bb"), ("/a;type=a", "/a"),
    ])
    func `characters with a meaning for libcurl are encoded`(target: String, text: String) {
        #expect(FTPPath(target: Array(target.utf8).span).urlText == text)
    }
}

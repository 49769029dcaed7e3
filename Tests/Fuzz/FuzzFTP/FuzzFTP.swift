// Invariant: any line of a list and any reply are read without a trap. The name of an entry is one part of a path and
// is at the end of its line. The text about a reply is a code of three digits and short plain text.
import Bytes

@testable import FTP

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    for line in input.split(separator: .lineFeed).map({ Array($0) }) {
        if let entry = DirectoryEntry.of(line) {
            precondition(!entry.name.isEmpty && !entry.name.contains(.slash), "a name leads to another directory")
            precondition(entry.name != [UInt8(ascii: ".")] && !entry.name.elementsEqual("..".utf8))
            precondition(isPart(entry.name, of: line), "a name that the server did not send")
            precondition(entry.kind == .file || entry.size.isEmpty)
            precondition(entry.size.utf8.allSatisfy(\.isDigit), "a size that is no number")
            precondition(DirectoryEntry.of(line) == entry)
        }
        if let reply = FTPSession.Reply(line: line.span) {
            precondition((100...599).contains(reply.code))
            precondition(reply.text.utf8.count <= 200)
            precondition(
                reply.description.utf8.allSatisfy { $0 >= .space && $0 < .delete }, "a reply steers the terminal")
        }
    }
    return 0
}

private func isPart(_ name: [UInt8], of line: [UInt8]) -> Bool {
    line.count >= name.count
        && (0...(line.count - name.count)).contains { line[$0..<($0 + name.count)].elementsEqual(name) }
}

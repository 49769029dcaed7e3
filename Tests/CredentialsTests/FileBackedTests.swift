import Bytes
import Credentials
import Crypto
import Synchronization
import Testing

struct FileBackedTests {
    private struct Bad: Error, CustomStringConvertible {
        let description = "that is no number"
    }

    private static func number(
        _ files: TemporaryFile..., counting count: Counter = Counter()
    ) throws(FileProblem) -> FileBacked<Int> {
        try FileBacked(files.map(\.path)) { contents in
            count.made.withLock { $0 += 1 }
            var sum = 0
            for content in contents {
                guard let number = Int(content.withBytes { $0.text }) else { throw Bad() }
                sum += number
            }
            return sum
        }
    }

    private final class Counter: Sendable {
        let made = Mutex(0)
        var count: Int { made.withLock { $0 } }
    }

    @Test func `the value follows the files, and is made anew only when one has changed`() throws {
        let (one, two) = (try TemporaryFile("1"), try TemporaryFile("2"))
        let counter = Counter()
        let value = try Self.number(one, two, counting: counter)
        #expect(value.value == 3)
        #expect(value.refresh() == nil)
        #expect(counter.count == 1)
        try two.write("20")
        #expect(value.refresh() == nil)
        #expect(value.value == 21)
        #expect(counter.count == 2)
    }

    @Test func `files that are of no use leave the value, and are complained of until they are good`() throws {
        let file = try TemporaryFile("1")
        let counter = Counter()
        let value = try Self.number(file, counting: counter)
        try file.write("x")
        #expect(value.refresh()?.description == "\(file.path): that is no number")
        #expect(value.refresh()?.description == "\(file.path): that is no number")
        #expect(value.value == 1)
        #expect(counter.count == 2)
        try file.remove()
        #expect(value.refresh()?.description == "\(file.path): cannot read the file: no such file or directory")
        try file.write("4")
        #expect(value.refresh() == nil)
        #expect(value.value == 4)
    }

    @Test func `bytes that move from one file to the next are a change`() throws {
        let (one, two) = (try TemporaryFile("12"), try TemporaryFile("3"))
        let value = try Self.number(one, two)
        try one.write("1")
        try two.write("23")
        #expect(value.refresh() == nil)
        #expect(value.value == 24)
    }

    @Test func `there is no value without files that are of use`() throws {
        let file = try TemporaryFile("x")
        #expect(throws: FileProblem(path: file.path, "that is no number")) { try Self.number(file) }
        try file.remove()
        #expect(throws: FileProblem.self) { try Self.number(file) }
    }
}

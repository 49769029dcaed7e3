import Foundation
import Glibc
import TestSupport
import Testing

@testable import IO

/// The sockets of helpers that other users run.
struct HelperSocketTests {
    /// Asks a helper that a thread plays.
    private static func ask(
        _ request: [UInt8], within limit: Duration = .seconds(30), _ helper: @escaping @Sendable (Int32) -> Void
    ) throws -> Result<[UInt8], HelperProgram.Failure> {
        let path = try LocalSocketTests.path()
        let listener = try path.listening()
        defer {
            Glibc.close(listener)
            path.remove()
        }
        Thread.detachNewThread {
            wait(for: POLLIN, on: listener)
            let connection = accept(listener, nil, nil)
            helper(connection)
            Glibc.close(connection)
        }
        do throws(HelperProgram.Failure) {
            return .success(try HelperSocket("\(path)").ask(request, within: .init(time: limit)))
        } catch { return .failure(error) }
    }

    /// - Parameter event: 0 for the end of the peer alone.
    private static func wait(for event: Int32, on descriptor: Int32) {
        var watched = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        _ = poll(&watched, 1, 30_000)
    }

    private static func write(_ bytes: [UInt8], to connection: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func readToEnd(_ connection: Int32) -> Int {
        var (piece, total) = ([UInt8](repeating: 0, count: 1000), 0)
        while true {
            let count = read(connection, &piece, piece.count)
            guard count > 0 else { return total }
            total += count
        }
    }

    /// A question that is larger than a socket's buffers.
    private static let large = [UInt8](repeating: 0x61, count: 1 << 20)

    @Test func `the helper reads the whole question, and its answer is read to the end`() throws {
        let answer = try Self.ask(Self.large) { connection in
            let count = Self.readToEnd(connection)
            Self.write(Array("\(count)".utf8), to: connection)
            Self.write([UInt8](repeating: 0x62, count: 60_000), to: connection)
        }
        #expect(answer == .success(Array("1048576".utf8) + [UInt8](repeating: 0x62, count: 60_000)))
    }

    @Test func `a helper that says nothing is left at the time limit`() throws {
        let limit = Duration.milliseconds(300)
        let silent = try Self.ask([0x61], within: limit) { Self.wait(for: 0, on: $0) }
        #expect(silent == .failure(.timedOut(limit)))
        // It reads nothing, either.
        let deaf = try Self.ask(Self.large, within: limit) { Self.wait(for: 0, on: $0) }
        #expect(deaf == .failure(.timedOut(limit)))
    }

    @Test func `an answer up to the limit is whole, and a longer one is a failure`() throws {
        let limit = 64 << 10
        for (count, result) in [(limit, nil), (limit + 1, HelperProgram.Failure.tooMuch(limit))] {
            let answer = try Self.ask([]) { Self.write([UInt8](repeating: 0x62, count: count), to: $0) }
            switch answer {
            case .success(let bytes): #expect(bytes.count == count && result == nil)
            case .failure(let error): #expect(error == result)
            }
        }
    }

    @Test(arguments: [1, 1 << 20])
    func `an answer counts although the helper has not read the question`(size: Int) throws {
        let answer = try Self.ask([UInt8](repeating: 0x61, count: size)) { connection in
            Self.wait(for: POLLIN, on: connection)
            Self.write(Array("secret".utf8), to: connection)
        }
        #expect(answer == .success(Array("secret".utf8)))
    }

    @Test func `a helper that ends without an answer is a failure if it has not read the question`() throws {
        let unread = try Self.ask([0x61]) { Self.wait(for: POLLIN, on: $0) }
        #expect(unread == .failure(.unconnected(errno: ECONNRESET)))
        let read = try Self.ask([0x61]) { _ = Self.readToEnd($0) }
        #expect(read == .success([]))
    }

    @Test func `a file that is no socket is not asked`() {
        #expect(throws: HelperProgram.Failure.notASocket) { try HelperSocket("/dev/null") }
        #expect(throws: HelperProgram.Failure.unconnected(errno: ENOENT)) { try HelperSocket("/none/helper.sock") }
    }
}

import Foundation
import Synchronization
import TestSupport

/// An origin of HTTP/1.1 that keeps the raw bytes of each connection, and judges them by two readings: that of RFC 9112,
/// and one that forgives as much as lax servers do. Text that two servers could read differently has two readings.
final class Witness: Sendable {
    struct Request: Equatable, Sendable {
        let line: String
        let fields: [String]
        let body: String

        func value(_ name: String) -> String? {
            fields.first { $0.lowercased().hasPrefix(name + ":") }.map {
                $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
            }
        }
    }

    let port: UInt16
    private let descriptor: Int32
    private let connections: Shared

    private final class Shared: Sendable {
        let bytes = Mutex<[[UInt8]]>([])
    }

    init() throws {
        (descriptor, port) = try Socket.listen()
        let (shared, listener) = (Shared(), descriptor)
        connections = shared
        Thread.detachNewThread {
            while let connection = Socket.accept(from: listener) {
                let number = shared.bytes.withLock { bytes in
                    bytes.append([])
                    return bytes.count - 1
                }
                Thread.detachNewThread { Self.serve(connection, number, shared) }
            }
            Foundation.close(listener)
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Answers each request that is whole.
    private static func serve(_ connection: Int32, _ number: Int, _ shared: Shared) {
        defer { Foundation.close(connection) }
        var answered = 0
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            let bytes = shared.bytes.withLock { bytes in
                bytes[number] += chunk[..<count]
                return bytes[number]
            }
            let requests = Reading(bytes, isLax: false).requests
            for request in requests[min(answered, requests.count)...] {
                let body = request.line.hasPrefix("HEAD") ? "" : "ok"
                let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\(body)"
                _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            answered = requests.count
        }
    }

    /// The bytes of each connection.
    var raw: [[UInt8]] { connections.bytes.withLock { $0 } }

    /// One understanding of a connection's bytes.
    struct Reading {
        private(set) var requests: [Request] = []
        /// The reason why the rest is no request; nil if nothing is left, or only the beginning of one.
        private(set) var fault: String?
        /// Whether the beginning of a request is left.
        private(set) var isCutShort = false

        private let bytes: [UInt8]
        private let isLax: Bool
        private var offset = 0

        init(_ bytes: [UInt8], isLax: Bool) {
            self.bytes = bytes
            self.isLax = isLax
            do {
                while offset < bytes.count { requests.append(try request()) }
            } catch Failure.cutShort {
                isCutShort = true
            } catch {
                fault = "\(error): \(String(decoding: bytes[min(offset, bytes.count)...].prefix(200), as: UTF8.self))"
            }
        }

        private enum Failure: Error {
            case cutShort
            case bad(String)
        }

        private mutating func line() throws -> String {
            guard let end = bytes[offset...].firstIndex(of: 10) else { throw Failure.cutShort }
            var content = bytes[offset..<end]
            offset = end + 1
            if content.last == 13 {
                content = content.dropLast()
            } else if !isLax {
                throw Failure.bad("a bare line feed")
            }
            if !isLax, content.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) {
                throw Failure.bad("a control character")
            }
            return String(decoding: content, as: UTF8.self)
        }

        private mutating func request() throws -> Request {
            let start = offset
            do {
                var first = try line()
                while isLax, first.isEmpty { first = try line() }
                let words = first.split(separator: " ", omittingEmptySubsequences: false)
                guard isLax || words.count == 3 && words[2] == "HTTP/1.1" && !words[0].isEmpty && !words[1].isEmpty
                else {
                    throw Failure.bad("the request line '\(first)'")
                }
                let fields = try section()
                let hosts = fields.count { Self.name(of: $0) == "host" }
                guard isLax || hosts == 1 else { throw Failure.bad("\(hosts) Host fields") }
                return Request(line: first, fields: fields, body: try body(after: fields))
            } catch Failure.cutShort {
                offset = start
                throw Failure.cutShort
            }
        }

        private mutating func section() throws -> [String] {
            var fields: [String] = []
            while true {
                let text = try line()
                if text.isEmpty { return fields }
                if isLax, text.first == " " || text.first == "\t", !fields.isEmpty {
                    fields[fields.count - 1] += text
                    continue
                }
                let name = text.prefix { $0 != ":" }
                let isToken =
                    !name.isEmpty && name.count < text.count
                    && name.utf8.allSatisfy { UInt8(33)...126 ~= $0 && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
                guard isLax || isToken else { throw Failure.bad("the field '\(text)'") }
                fields.append(text)
            }
        }

        /// The name of a field. A lax server forgives blanks and odd bytes beside it.
        private static func name(of field: String) -> String {
            field.prefix { $0 != ":" }.lowercased().filter { $0.isASCII && ($0.isLetter || $0 == "-" || $0.isNumber) }
        }

        private mutating func body(after fields: [String]) throws -> String {
            let lengths = fields.filter { Self.name(of: $0) == "content-length" }
            let codings = fields.filter { Self.name(of: $0) == "transfer-encoding" }
            if !isLax {
                guard lengths.count + codings.count <= 1 else { throw Failure.bad("\(lengths + codings)") }
                if let coding = codings.first, !coding.lowercased().hasSuffix(": chunked") { throw Failure.bad(coding) }
            }
            if codings.contains(where: { $0.lowercased().contains("chunked") }) { return try chunks() }
            guard let length = lengths.last else { return "" }
            let digits = length.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)
            guard let count = Int(digits), count >= 0, isLax || digits.allSatisfy(\.isNumber) else {
                throw Failure.bad(length)
            }
            return try take(count)
        }

        private mutating func take(_ count: Int) throws -> String {
            guard bytes.count - offset >= count else { throw Failure.cutShort }
            defer { offset += count }
            return String(decoding: bytes[offset..<offset + count], as: UTF8.self)
        }

        private mutating func chunks() throws -> String {
            var body = ""
            while true {
                let text = try line()
                guard let size = Int(text.prefix(while: \.isHexDigit), radix: 16), size >= 0 else {
                    throw Failure.bad("the chunk '\(text)'")
                }
                if size == 0 { break }
                body += try take(size)
                guard try line().isEmpty else { throw Failure.bad("a chunk that goes on") }
            }
            for field in try section()
            where ["host", "content-length", "transfer-encoding", "authorization"].contains(Self.name(of: field)) {
                throw Failure.bad("the trailer '\(field)'")
            }
            return body
        }
    }
}

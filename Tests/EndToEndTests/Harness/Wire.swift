import Foundation

/// One end of a TCP connection, for clients and origins that must say or see exact bytes. Every read gives up after 60 s.
final class Wire {
    enum Failure: Error {
        case ended(received: String)
        case timedOut(received: String)
        /// This end has closed the connection; another connection may have the descriptor's number by now.
        case closed
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isOpen = true

    init(to port: UInt16, at host: String = "127.0.0.1") throws {
        descriptor = try Socket.connect(to: port, at: host)
        limitWaiting()
    }

    init(takingOwnershipOf descriptor: Int32) {
        self.descriptor = descriptor
        limitWaiting()
    }

    deinit { close() }

    private func limitWaiting() {
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    // MARK: Sending

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        guard isOpen else { throw Failure.closed }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Socket.Failure("send") }
            sent += count
        }
    }

    /// Sends FIN; the other direction stays open.
    func finishSending() {
        if isOpen { shutdown(descriptor, Int32(SHUT_WR)) }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        Foundation.close(descriptor)
    }

    /// Closes with RST.
    func abort() {
        guard isOpen else { return }
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    // MARK: Receiving

    /// Has the system keep no more than some 100 KiB for this end until they are read.
    func holdLittle() {
        var bytes: Int32 = 64 * 1024
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Adds what has arrived to the buffer; false at the end of the stream (a reset counts as one).
    private func fill() throws -> Bool {
        guard isOpen else { throw Failure.closed }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count > 0 { buffer += chunk[..<count] }
        if count < 0, errno == EAGAIN { throw Failure.timedOut(received: String(decoding: buffer, as: UTF8.self)) }
        return count > 0
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    func read(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill() else { throw Failure.ended(received: String(decoding: buffer, as: UTF8.self)) }
        }
        return take(count)
    }

    func readToEnd() throws -> [UInt8] {
        while try fill() {}
        return take(buffer.count)
    }

    /// True once the peer has closed and nothing is left to read.
    func isEnded() throws -> Bool {
        try buffer.isEmpty && !fill()
    }

    private func read(through delimiter: String) throws -> String? {
        let pattern = Array(delimiter.utf8)
        while true {
            if let range = buffer.firstRange(of: pattern) {
                return String(decoding: take(range.upperBound), as: UTF8.self)
            }
            guard try fill() else {
                if buffer.isEmpty { return nil }
                throw Failure.ended(received: String(decoding: buffer, as: UTF8.self))
            }
        }
    }

    /// The next head, its content left unread; nil if the stream ended before it.
    func readHead() throws -> Message? {
        try read(through: "\r\n\r\n").map { Message(head: $0) }
    }

    /// The next request with its content.
    func readRequest() throws -> Message? {
        guard let head = try readHead() else { return nil }
        return try readContent(of: head)
    }

    /// The content that the head announces.
    func readContent(of head: Message) throws -> Message {
        var message = head
        if head["Transfer-Encoding"]?.lowercased() == "chunked" {
            message.isChunked = true
            try readChunks(into: &message)
        } else if let length = head["Content-Length"].flatMap({ Int($0) }) {
            message.body = try read(length)
        }
        return message
    }

    /// The next response, interim ones included, with its content as RFC 9112 section 6.3 delimits it.
    func readResponse(to method: String = "GET") throws -> Message {
        guard let head = try readHead() else { throw Failure.ended(received: "") }
        let hasNoContent = method == "HEAD" || [204, 304].contains(head.status) || head.status / 100 == 1
        if hasNoContent || method == "CONNECT" && head.status / 100 == 2 { return head }
        if head["Transfer-Encoding"] != nil || head["Content-Length"] != nil { return try readContent(of: head) }
        var message = head
        message.body = try readToEnd()
        return message
    }

    private func readChunks(into message: inout Message) throws {
        while true {
            let line = try read(through: "\r\n") ?? ""
            guard let size = Int(line.prefix { $0.isHexDigit }, radix: 16) else {
                throw Failure.ended(received: "bad chunk: \(line)")
            }
            if size == 0 { break }
            message.body += try read(size)
            _ = try read(2)
        }
        while let line = try read(through: "\r\n"), line != "\r\n" {
            message.trailers.append(String(line.dropLast()))
        }
    }
}

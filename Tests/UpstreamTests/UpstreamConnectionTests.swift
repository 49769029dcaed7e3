import Bytes
import HTTP
import IO
import TestSupport
import Testing
import Transport

@testable import Forwarding
@testable import Upstream

struct UpstreamConnectionTests {
    private static func connection(on loop: EventLoop) async throws -> (UpstreamConnection, Socket) {
        let (near, far) = try await connectedPair(on: loop)
        let upstream = UpstreamConnection(limits: .response, on: loop)
        let origin = UpstreamServer(
            scheme: .http, host: "example.com".utf8Span.span, port: 80, pool: IdlePool(limit: 1))
        upstream.attach(
            OriginConnection(stream: ByteStream(near), to: origin, under: .plain), isReused: false)
        return (upstream, far)
    }

    @Test func `a body that always stops within a size line takes no more room`() async throws {
        let capacity = try await onLoop { loop in
            let (upstream, far) = try await Self.connection(on: loop)
            var progress = BodyProgress(.chunked, of: .upstream, limits: .response)
            let piece = ByteBuffer(capacity: 64)
            piece.append("8\r" as StaticString)
            for _ in 0..<4000 {
                try await far.write(from: piece)
                _ = try await upstream.readBody(within: 10_000)
                let inbound = upstream.inbound
                inbound.consume(try progress.take(inbound.readable))
                piece.append("\n12345678\r\n8\r" as StaticString)
            }
            return upstream.inbound.capacity
        }
        #expect(capacity == BufferPool.regular)
    }

    @Test func `a connection that broke before its response has died`() async throws {
        let failures = try await onLoop { loop in
            var failures: [String] = []
            for sent in ["", "HTTP/1.1 200 O"] {
                let (upstream, far) = try await Self.connection(on: loop)
                let piece = ByteBuffer(capacity: 64)
                piece.append(sent)
                try await far.write(from: piece)
                far.close()
                do throws(UpstreamConnection.Failure) {
                    try await upstream.receiveHead(answering: .get, within: 10_000)
                } catch { failures.append("\(error)") }
            }
            return failures
        }
        #expect(failures.first == "died")
        #expect(failures.last?.hasPrefix("invalid") == true)
    }

    @Test func `a connection is ready for another request only when nothing is left on it`() async throws {
        let states = try await onLoop { loop in
            var states: [Bool] = []
            for rest in ["", "HTTP/1.1 200 OK\r\n"] {
                let (upstream, far) = try await Self.connection(on: loop)
                let piece = ByteBuffer(capacity: 64)
                piece.append("HTTP/1.1 401 No\r\nContent-Length: 3\r\n\r\n")
                try await far.write(from: piece)
                try await upstream.receiveHead(answering: .get, within: 10_000)
                piece.append("who\(rest)")
                try await far.write(from: piece)
                await upstream.discardBody(upTo: 1024, limits: .response, within: 10_000)
                states.append(upstream.stream != nil && upstream.isReused)
            }
            return states
        }
        #expect(states == [true, false])
    }
}

extension UpstreamConnection {
    /// Reads the next response head in a task.
    fileprivate func receiveHead(answering method: Method, within limit: Milliseconds) async throws(Failure) {
        stream?.setDeadline(after: limit)
        while try !advanceHead(answering: method) { await stream?.channel.waitForEvent() }
    }
}

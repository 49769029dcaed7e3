import Bytes
import Credentials
import HTTP
import IO
import Model
import Rules
import TestSupport
import Testing
import Transport

@testable import Upstream

struct OriginTests {
    private static func origin(_ scheme: Scheme = .http, _ pool: IdlePool = IdlePool(limit: 8)) -> UpstreamServer {
        UpstreamServer(scheme: scheme, host: "example.com".utf8Span.span, port: 80, pool: pool)
    }

    @Test func `the connection used last is used next, once`() async throws {
        let isRight = try await onLoop { loop in
            let origin = Self.origin()
            let first = ByteStream(try await connectedPair(on: loop).0)
            let second = ByteStream(try await connectedPair(on: loop).0)
            for stream in [first, second] {
                origin.keep(OriginConnection(stream: stream, to: origin, under: .plain), for: 10_000)
            }
            let taken = (0..<3).map { _ in origin.takeIdle(under: .plain) }
            return taken[0]?.stream === second && taken[1]?.stream === first && taken[2] == nil
        }
        #expect(isRight)
    }

    @Test func `a connection that counts as a client's own rests nowhere where others look`() async throws {
        let isClosed = try await onLoop { loop in
            let origin = Self.origin()
            let stream = ByteStream(try await connectedPair(on: loop).0)
            let connection = OriginConnection(stream: stream, to: origin, under: .plain)
            connection.claim(for: ConnectionLogin(to: origin))
            connection.rest(for: 10_000)
            return stream.isClosed && origin.takeIdle(under: .plain) == nil
        }
        #expect(isClosed)
    }

    @Test func `a connection serves only requests of its own terms`() async throws {
        let taken = try await onLoop { loop in
            let origin = Self.origin(.https)
            let alice = ConnectionTerms(client: ClientIdentity(address: IPAddress(v4: 1), user: "alice"))
            let bob = ConnectionTerms(client: ClientIdentity(address: IPAddress(v4: 1), user: "bob"))
            let streams = [
                ByteStream(try await connectedPair(on: loop).0), ByteStream(try await connectedPair(on: loop).0),
            ]
            origin.keep(OriginConnection(stream: streams[0], to: origin, under: alice), for: 10_000)
            origin.keep(OriginConnection(stream: streams[1], to: origin, under: .plain), for: 10_000)
            return [
                origin.takeIdle(under: bob) == nil,
                origin.takeIdle(under: alice)?.stream === streams[0],
                origin.takeIdle(under: alice) == nil,
                origin.takeIdle(under: .plain)?.stream === streams[1],
            ]
        }
        #expect(taken == [true, true, true, true])
    }

    @Test(arguments: ["HTTP/1.1 408 Request Timeout\r\n\r\n", ""])
    func `a connection on which the origin speaks or ends is closed, and its place is free`(
        said: String
    ) async throws {
        let (isClosed, count) = try await onLoop { loop in
            let pool = IdlePool(limit: 1)
            let origin = Self.origin(.http, pool)
            let (near, far) = try await connectedPair(on: loop)
            let stream = ByteStream(near)
            origin.keep(OriginConnection(stream: stream, to: origin, under: .plain), for: 10_000)
            let out = ByteBuffer(capacity: 64)
            out.append(said)
            try await far.write(from: out)
            if said.isEmpty { far.shutdownWrite() }
            // The far end's own wake-up tells when the near one is closed.
            while !far.hasPeerEnded { await far.waitForEvent() }
            return (stream.isClosed && origin.takeIdle(under: .plain) == nil, pool.count)
        }
        #expect(isClosed)
        #expect(count == 0)
    }

    @Test func `without room the connection that rested longest goes, and one with something to read is not kept`()
        async throws
    {
        let closed = try await onLoop { loop in
            let pool = IdlePool(limit: 1)
            let origin = Self.origin(.http, pool)
            let streams = [
                ByteStream(try await connectedPair(on: loop).0), ByteStream(try await connectedPair(on: loop).0),
            ]
            for stream in streams {
                origin.keep(OriginConnection(stream: stream, to: origin, under: .plain), for: 10_000)
            }
            let (near, far) = try await connectedPair(on: loop)
            far.shutdownWrite()
            while !near.isReadable { await near.waitForEvent() }
            pool.closeAll()
            let ended = ByteStream(near)
            origin.keep(OriginConnection(stream: ended, to: origin, under: .plain), for: 10_000)
            return [streams[0].isClosed, streams[1].isClosed, ended.isClosed, pool.count == 0]
        }
        #expect(closed == [true, true, true, true])
    }

    @Test func `connections made with another certificate close, at once or after their request`() async throws {
        let closed = try await onLoop { loop in
            let answers = TLSPolicyEpoch(stored: StoredCredentials())
            let pool = IdlePool(limit: 8, tlsPolicyEpoch: answers)
            let origin = Self.origin(.https, pool)
            let old = ConnectionTerms(tlsPolicyEpoch: answers.number)
            let streams = [
                ByteStream(try await connectedPair(on: loop).0), ByteStream(try await connectedPair(on: loop).0),
                ByteStream(try await connectedPair(on: loop).0), ByteStream(try await connectedPair(on: loop).0),
            ]
            origin.keep(OriginConnection(stream: streams[0], to: origin, under: old), for: 10_000)
            origin.keep(OriginConnection(stream: streams[1], to: origin, under: .plain), for: 10_000)
            answers.advance()
            pool.closeOutdated()
            origin.keep(OriginConnection(stream: streams[2], to: origin, under: old), for: 10_000)
            let new = ConnectionTerms(tlsPolicyEpoch: answers.number)
            origin.keep(OriginConnection(stream: streams[3], to: origin, under: new), for: 10_000)
            return streams.map(\.isClosed) + [pool.count == 2]
        }
        #expect(closed == [true, false, true, false, true])
    }

    @Test func `the connection that rested longest makes room for one of many of an origin`()
        async throws
    {
        let closed = try await onLoop { loop in
            let pool = IdlePool(limit: 1500)
            let (one, other) = (Self.origin(.http, pool), Self.origin(.https, pool))
            var streams: [ByteStream] = []
            for origin in [one, other, other] {
                streams.append(ByteStream(try await connectedPair(on: loop).0))
                origin.keep(
                    OriginConnection(stream: streams[streams.count - 1], to: origin, under: .plain), for: 10_000)
            }
            // Used meanwhile, so that it has not rested as long as the third.
            if let used = other.takeIdle(under: .plain) { other.keep(used, for: 10_000) }
            for _ in 0..<1024 {
                let stream = ByteStream(try await connectedPair(on: loop).0)
                one.keep(OriginConnection(stream: stream, to: one, under: .plain), for: 10_000)
            }
            return streams.map(\.isClosed) + [pool.count == 1026]
        }
        #expect(closed == [true, false, false, true])
    }

    @Test func `a connection to another server is not kept`() async throws {
        let isClosed = try await onLoop { loop in
            let (one, other) = (Self.origin(), Self.origin())
            let stream = ByteStream(try await connectedPair(on: loop).0)
            one.keep(OriginConnection(stream: stream, to: other, under: .plain), for: 10_000)
            return stream.isClosed && !one.holdsConnections
        }
        #expect(isClosed)
    }
}

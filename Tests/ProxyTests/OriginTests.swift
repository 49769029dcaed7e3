import Bytes
import HTTP
import IO
import Rules
import TestSupport
import Testing
import Transport

@testable import Proxy

struct OriginTests {
    private static func origin(_ scheme: Scheme = .http, _ room: IdleRoom = IdleRoom(places: 8)) -> Origin {
        Origin(scheme: scheme, host: "example.com".utf8Span.span, port: 80, room: room)
    }

    @Test func `the connection used last is used next, once`() async throws {
        let isRight = try await onLoop { loop in
            let origin = Self.origin()
            let first = ByteStream(try await connectedPair(on: loop).0)
            let second = ByteStream(try await connectedPair(on: loop).0)
            for stream in [first, second] { origin.keep(OriginConnection(stream: stream, terms: .plain), for: 10_000) }
            let taken = (0..<3).map { _ in origin.takeIdle(under: .plain, for: Wakeup()) }
            return taken[0]?.stream === second && taken[1]?.stream === first && taken[2] == nil
        }
        #expect(isRight)
    }

    @Test func `a connection serves only requests of its own terms`() async throws {
        let taken = try await onLoop { loop in
            let origin = Self.origin(.https)
            let alice = ConnectionTerms(client: ClientIdentity(address: IPAddress(v4: 1), user: "alice"))
            let bob = ConnectionTerms(client: ClientIdentity(address: IPAddress(v4: 1), user: "bob"))
            let streams = [
                ByteStream(try await connectedPair(on: loop).0), ByteStream(try await connectedPair(on: loop).0),
            ]
            origin.keep(OriginConnection(stream: streams[0], terms: alice), for: 10_000)
            origin.keep(OriginConnection(stream: streams[1], terms: .plain), for: 10_000)
            return [
                origin.takeIdle(under: bob, for: Wakeup()) == nil,
                origin.takeIdle(under: alice, for: Wakeup())?.stream === streams[0],
                origin.takeIdle(under: alice, for: Wakeup()) == nil,
                origin.takeIdle(under: .plain, for: Wakeup())?.stream === streams[1],
            ]
        }
        #expect(taken == [true, true, true, true])
    }

    @Test(arguments: ["HTTP/1.1 408 Request Timeout\r\n\r\n", ""])
    func `a connection on which the origin speaks or ends is closed, and its place is free`(
        said: String
    ) async throws {
        let (isClosed, places) = try await onLoop { loop in
            let room = IdleRoom(places: 1)
            let origin = Self.origin(.http, room)
            let (near, far) = try await connectedPair(on: loop)
            let stream = ByteStream(near)
            origin.keep(OriginConnection(stream: stream, terms: .plain), for: 10_000)
            let out = ByteBuffer(capacity: 64)
            out.append(said)
            try await far.write(from: out)
            if said.isEmpty { far.shutdownWrite() }
            // The far end's own wake-up tells when the near one is closed.
            while !far.hasPeerEnded { await far.waitForEvent() }
            return (stream.isClosed && origin.takeIdle(under: .plain, for: Wakeup()) == nil, room.places)
        }
        #expect(isClosed)
        #expect(places == 1)
    }

    @Test func `without room, or with something to read, a connection is not kept`() async throws {
        let closed = try await onLoop { loop in
            let room = IdleRoom(places: 1)
            let origin = Self.origin(.http, room)
            let streams = [
                ByteStream(try await connectedPair(on: loop).0), ByteStream(try await connectedPair(on: loop).0),
            ]
            for stream in streams { origin.keep(OriginConnection(stream: stream, terms: .plain), for: 10_000) }
            let (near, far) = try await connectedPair(on: loop)
            far.shutdownWrite()
            while !near.isReadable { await near.waitForEvent() }
            origin.closeIdle()
            let ended = ByteStream(near)
            origin.keep(OriginConnection(stream: ended, terms: .plain), for: 10_000)
            return [streams[0].isClosed, streams[1].isClosed, ended.isClosed, room.places == 1]
        }
        #expect(closed == [true, true, true, true])
    }

    @Test func `connections made with another certificate close, at once or after their request`() async throws {
        let closed = try await onLoop { loop in
            let identities = IdentityGeneration()
            let room = IdleRoom(places: 8, identities: identities)
            let origin = Self.origin(.https, room)
            let old = ConnectionTerms(identities: identities.number)
            let streams = [
                ByteStream(try await connectedPair(on: loop).0), ByteStream(try await connectedPair(on: loop).0),
                ByteStream(try await connectedPair(on: loop).0), ByteStream(try await connectedPair(on: loop).0),
            ]
            origin.keep(OriginConnection(stream: streams[0], terms: old), for: 10_000)
            origin.keep(OriginConnection(stream: streams[1], terms: .plain), for: 10_000)
            identities.advance()
            origin.closeOutdated()
            origin.keep(OriginConnection(stream: streams[2], terms: old), for: 10_000)
            let new = ConnectionTerms(identities: identities.number)
            origin.keep(OriginConnection(stream: streams[3], terms: new), for: 10_000)
            return streams.map(\.isClosed) + [room.places == 6]
        }
        #expect(closed == [true, false, true, false, true])
    }
}

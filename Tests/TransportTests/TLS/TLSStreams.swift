import Bytes
import Crypto
import Glibc
import IO
import TLS
import TestSupport
import Transport

/// Trusts a peer that shows the test server's certificate.
func trustingServer(_ chain: PresentedChain) -> ServerTrust? {
    guard let leaf = identity(TestPEM.server)?.leaf, let anchors = try? TrustAnchors(only: [leaf]) else { return nil }
    let evaluation = TrustEvaluation.of(chain, for: serverName, anchors: anchors, at: SystemClock.wallTime)
    guard case .trusted(let chain) = evaluation.forgiving([]) else { return nil }
    return ServerTrust(chain)
}

func identity(_ pem: String) -> Identity? { try? Identity(certificate: .content(Secret(pem))) }

let serverName = ServerName("server.example.test")

extension ByteStream {
    static func connected(to port: UInt16, on loop: EventLoop) async throws -> ByteStream {
        let wakeup = Wakeup()
        let address = SocketAddress(IPAddress(v4: 0x7F00_0001), port: port)
        let stream = try await Connector.connect(to: [address], within: 5000, on: loop, wakeup: wakeup)
        stream.wakeup = wakeup
        return stream
    }

    func secured(
        _ settings: ClientTLSContext.Settings = ClientTLSContext.Settings(applicationProtocols: []),
        sessions: (any SessionSlot)? = nil, chooseIdentity: (([DistinguishedName]) -> Identity?)? = nil
    ) async throws {
        try await handshake(
            as: .shared(for: settings), to: serverName, sessions: sessions, chooseIdentity: chooseIdentity,
            within: 5000, trusting: trustingServer)
    }

    func say(_ text: String) async throws {
        let buffer = ByteBuffer(capacity: 64)
        buffer.append(text)
        setDeadline(after: 5000)
        try await write(from: buffer)
    }

    /// Reads until what came contains `text`.
    @discardableResult
    func hears(_ text: String) async throws -> String {
        let buffer = ByteBuffer(capacity: 65_536)
        setDeadline(after: 5000)
        while !buffer.readable.text.contains(text) {
            guard try await read(into: buffer) > 0 else { throw IOError.endOfStream }
        }
        return buffer.readable.text
    }

    /// Reads until the peer's end.
    func rest() async throws -> String {
        let buffer = ByteBuffer(capacity: 65_536)
        setDeadline(after: 5000)
        while try await read(into: buffer) > 0 {}
        return buffer.readable.text
    }
}

/// Two streams with TLS between them: the client's first.
func tlsStreams(
    on loop: EventLoop, over pair: (ByteStream, ByteStream)? = nil
) async throws -> (ByteStream, ByteStream) {
    let (near, far) = if let pair { pair } else { try await streams(on: loop) }
    (near.wakeup, far.wakeup) = (Wakeup(), Wakeup())
    let done = Wakeup()
    let shared = LoopBound((far, done, Finish()), to: loop)
    loop.spawn {
        let (far, done, finish) = shared.value
        do {
            try await far.accept(as: ServerTLSContext(), within: 5000) { _ in identity(TestPEM.server) }
            finish.outcome = .success(())
        } catch { finish.outcome = .failure(error) }
        done.signal()
    }
    try await near.secured()
    while shared.value.2.outcome == nil { await done.wait() }
    try shared.value.2.outcome?.get()
    return (near, far)
}

private final class Finish { var outcome: Result<Void, any Error>? }

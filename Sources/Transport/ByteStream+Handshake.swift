import Bytes
import IO
import TLS

extension ByteStream {
    /// Puts TLS between, as the client: from here on the stream's bytes are what goes through it.
    ///
    /// - Parameters:
    ///   - name: who is meant; sent to the server unless it is an address.
    ///   - sessions: where a session may be found and new ones are left.
    ///   - chooseIdentity: called whenever the server wants a certificate, also later, with the issuers that it accepts;
    ///     never before the server is trusted. Nil declines. It must not keep the stream.
    ///   - limit: milliseconds for the server's part; anew after each decision.
    ///   - judge: what to think of the server's chain; it may take its time, and nil refuses. Not called for a session
    ///     that is resumed, which carries its trust with it (`tls.serverTrust`).
    /// - Throws: why there is no TLS. The stream is then good for nothing but to be closed.
    public func handshake(
        as client: ClientTLSContext, to name: ServerName, sessions: (any SessionPlace)? = nil,
        chooseIdentity: (([DistinguishedName]) -> Identity?)? = nil, within limit: Int,
        trusting judge: (PresentedChain) async -> ServerTrust?
    ) async throws(HandshakeError) {
        let connection: TLSConnection
        do throws(TLSError) {
            connection = try TLSConnection(
                client: client, to: name, over: carrier, sessions: sessions, chooseIdentity: chooseIdentity)
        } catch { throw HandshakeError(error) }
        try await shake(connection, within: limit) { (question: HandshakeStep) in
            guard case .serverTrust(let chain) = question else { return }
            if let trust = await judge(chain) { connection.trust(trust) } else { connection.refuseTrust() }
        }
    }

    /// Puts TLS between, as the server.
    ///
    /// - Parameters:
    ///   - earlier: bytes of the client that were read from the stream to look at them; emptied.
    ///   - limit: milliseconds for the client's part; anew after the identity was found.
    ///   - identity: whom to be for a client that wants this name, or says none; nil refuses. It may take its time. Not
    ///     called for a client that comes back.
    /// - Throws: why there is no TLS. The stream is then good for nothing but to be closed.
    public func accept(
        as server: ServerTLSContext, after earlier: ByteBuffer? = nil, within limit: Int,
        identity: (_ serverName: String?) async -> Identity?
    ) async throws(HandshakeError) {
        let connection: TLSConnection
        do throws(TLSError) {
            connection = try TLSConnection(server: server, over: carrier, after: earlier)
        } catch { throw HandshakeError(error) }
        try await shake(connection, within: limit) { (question: HandshakeStep) in
            guard case .serverIdentity(let name) = question else { return }
            if let identity = await identity(name) {
                connection.setIdentity(identity)
            } else {
                connection.refuseIdentity()
            }
        }
    }

    private func shake(
        _ connection: TLSConnection, within limit: Int, answering answer: (HandshakeStep) async -> Void
    ) async throws(HandshakeError) {
        setDeadline(after: limit)
        while true {
            do throws(IOError) { try check() } catch { throw .connection(error) }
            let step: HandshakeStep
            do throws(TLSError) { step = try connection.handshake() } catch { throw HandshakeError(error) }
            switch step {
            case .done: return push(connection)
            case .wouldBlock: await socket.waitForEvent()
            case .serverTrust, .serverIdentity:
                // The peer is not to blame for the time that the answer takes.
                setDeadline(after: nil)
                await answer(step)
                setDeadline(after: limit)
            }
        }
    }
}

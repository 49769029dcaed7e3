import Bytes
import Forwarding
import HTTP
import IO
import TLS
import Telemetry
import Transport
import Upstream

/// The beginning of a client's connection to a listener that speaks TLS, once its first record is there.
struct SecureArrival {
    let session: ClientSession
    let exchange: Exchange

    /// Shakes hands, and finds out who the client is if it shows a certificate.
    ///
    /// A client that speaks HTTP in clear is told so, in clear, for as long as nothing else was said.
    func accept(as listener: ListenerIdentity) async throws(ExchangeFailure) {
        let inbound = exchange.inbound
        if SpokenProtocol.told(by: inbound.readable) == .http { throw .refused(.clearText) }
        let limit = exchange.policy.timeouts.head
        do throws(HandshakeError) {
            try await session.accept(as: listener.context, after: exchange.inbound, within: limit) { _ in
                listener.identity
            }
        } catch {
            if let own = session.stream.localAddress {
                let server = DatedUse.Server("https", host: "\(own.address.unmapped)", port: own.port, as: .listener)
                session.requester.noteDatedClient(error, of: nil, calling: server)
            }
            throw ExchangeFailure(error, advice: "it must trust the listener's certificate or its issuer's")
        }
        if let certificate = session.stream.tls?.clientChain?.leaf {
            if let name = certificate.userName { session.recognise(name) }
        } else if listener.requiresCertificate {
            throw .refused(.missingCertificate)
        }
    }
}

extension Refusal {
    fileprivate static var clearText: Refusal {
        var refusal = Refusal(
            .badRequest, .httpRequestError,
            "this port of the proxy speaks TLS: set it as https://… in the client, or use a port without TLS")
        refusal.keepsConnection = false
        return refusal
    }

    fileprivate static var missingCertificate: Refusal {
        var refusal = Refusal(
            .forbidden, .httpRequestDenied, "this port of the proxy serves only clients that show a certificate")
        refusal.keepsConnection = false
        return refusal
    }
}

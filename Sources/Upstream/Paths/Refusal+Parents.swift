import Authentication
import HTTP
import Rules
import Telemetry

extension Refusal {
    /// Turns the refusal of a connection into one that names the parent.
    public func of(_ parent: Parent) -> Refusal {
        var refusal = self
        refusal.sentence = "\(parent.origin.title) cannot be used: \(sentence)"
        refusal.details = "\(parent.origin.title) cannot be used: \(details)"
        return refusal
    }

    /// The refusal for a parent's challenge that the proxy must answer and could not. The client must not see the
    /// challenge: it would send its own answer, which the proxy cannot pass on.
    ///
    /// - Parameters:
    ///   - note: why the challenge was not answered although a rule has a credential for it.
    ///   - status: the status of the response.
    public static func unanswered(
        by parent: Parent, challenges: [HeaderChallenge], note: String?,
        _ status: Status = .proxyAuthenticationRequired
    ) -> Refusal {
        let title = parent.origin.title
        let schemes = challenges.map { challenge in
            challenge.realm.map { "\(challenge.scheme) realm \"\($0)\"" } ?? challenge.scheme
        }
        var refusal: Refusal
        if let note {
            refusal = Refusal(.badGateway, .httpRequestDenied, "\(title) asks for a login: \(note)")
        } else if schemes.isEmpty {
            refusal = Refusal(
                .badGateway, .httpProtocolError,
                "\(title) asks for a login, but does not say which (\(status.rawValue) without challenge)")
        } else {
            refusal = Refusal(
                .badGateway, .proxyConfigurationError,
                "\(title) asks for a login (\(schemes.joined(separator: ", "))), but no rule has one for it",
                explanation: linesToAnswer(parent))
        }
        refusal.receivedStatus = status
        return refusal
    }

    /// The refusal when a parent answered with an error instead of a tunnel.
    public static func tunnelRefused(by parent: Parent, to origin: UpstreamServer, status: Status) -> Refusal {
        let sentence =
            "\(parent.origin.title) opened no tunnel to \(origin.hostText) port \(origin.port): "
            + "it answered \(status.rawValue)"
        var refusal: Refusal
        switch status.rawValue {
        case 504: refusal = Refusal(.gatewayTimeout, .connectionTimeout, sentence)
        case 403, 405: refusal = Refusal(.badGateway, .httpRequestDenied, sentence)
        default: refusal = Refusal(.badGateway, .destinationUnavailable, sentence)
        }
        refusal.receivedStatus = status
        return refusal
    }

    /// The refusal when a SOCKS server did not connect.
    public static func refused(_ error: SOCKSError, by parent: Parent, to origin: UpstreamServer) -> Refusal {
        let (title, place) = (parent.origin.title, "\(origin.hostText) port \(origin.port)")
        let words = "\(title) did not connect to \(place)"
        switch error {
        case .refused(2): return Refusal(.badGateway, .httpRequestDenied, "\(words): its rules do not allow it")
        case .refused(3), .refused(4):
            return Refusal(.badGateway, .destinationIPUnroutable, "\(words): there is no route to it, or no such host")
        case .refused(5): return Refusal(.badGateway, .connectionRefused, "\(words): the connection was refused")
        case .refused(6): return Refusal(.gatewayTimeout, .connectionTimeout, "\(words) in time")
        case .refused(let code):
            return Refusal(.badGateway, .destinationUnavailable, "\(words): it answered \(code)")
        case .malformed, .noAcceptableMethod, .passwordRefused:
            return Refusal(
                .badGateway, .httpProtocolError, "\(title) does not speak \(parent.server.scheme.rawValue)")
        case .hostTooLong: return Refusal(.badGateway, .httpRequestError, "\(words): its name is too long")
        }
    }

    private static func linesToAnswer(_ parent: Parent) -> String {
        let (host, port) = (parent.origin.hostText, parent.origin.port)
        return """
            To log in, add lines like these to the rule file:

            credential parent { user NAME; password file /path/to/password }
            challenge "\(host)" { proxy yes; host \(host); port \(port); use parent }
            """
    }
}

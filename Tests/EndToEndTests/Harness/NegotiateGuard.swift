import Foundation
import GSSAPI
import Synchronization

/// The server's side of Negotiate on one origin, with the whims of real ones.
final class NegotiateGuard: Sendable {
    enum Ending: Sendable {
        /// `200` with the last token.
        case proved
        /// `200` without it.
        case silent
        /// `200` with a last token that is broken.
        case forged
        /// `401` with the last token: the principal is known, and may not come in.
        case denied
    }

    struct Terms: Sendable {
        var ending = Ending.proved
        /// The login holds for the request that made it only, and `Persistent-Auth` says so.
        var losesLogin = false
        /// The binding of the TLS connection that logins must have; nil if it is not checked.
        var channel: [UInt8]?
        /// The response that ends a connection, counted from 1; nil where connections stay.
        var closesEvery: Int?
    }

    private struct State {
        var principals: [String] = []
        var refusals: [String] = []
    }

    private let terms: Terms
    private let credential: AcceptingContext.Credential
    private let state = Mutex(State())

    init(_ terms: Terms = Terms(), in realm: KerberosRealm) throws {
        self.terms = terms
        credential = try AcceptingContext.Credential(keytab: realm.serviceKeytab)
    }

    /// The principals that logged in, once for each login.
    var principals: [String] { state.withLock { $0.principals } }
    /// Why tokens were not taken.
    var refusals: [String] { state.withLock { $0.refusals } }

    /// Serves one connection.
    func serve(_ connection: RecordingOrigin.Connection) throws {
        var isLoggedIn = false
        var count = 0
        while let request = try connection.request() {
            count += 1
            let closes = terms.closesEvery.map { count % $0 == 0 } ?? false
            let ending = closes ? ["Connection: close"] : []
            if let token = request["Authorization"].flatMap(Self.token) {
                let reply = answer(to: token)
                isLoggedIn = reply.status.hasPrefix("200") && !terms.losesLogin
                let word = terms.losesLogin ? ["Persistent-Auth: false"] : []
                try connection.reply(reply.status, reply.fields + word + ending, "received \(request.body.count)")
            } else if isLoggedIn {
                try connection.reply("200 OK", ending, "received \(request.body.count)")
            } else {
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: Negotiate"] + ending, "who are you?")
            }
            if closes { return }
        }
    }

    private func answer(to token: [UInt8]) -> (status: String, fields: [String]) {
        do throws(GSSAPIError) {
            let context = try AcceptingContext(credential, channel: terms.channel)
            guard case .established(let principal, var last?, _) = try context.step(token) else {
                return ("500 Internal Server Error", [])
            }
            state.withLock { $0.principals.append(principal) }
            if case .forged = terms.ending { last[last.count - 20] ^= 1 }
            let field = "WWW-Authenticate: Negotiate \(Data(last).base64EncodedString())"
            switch terms.ending {
            case .proved, .forged: return ("200 OK", [field])
            case .silent: return ("200 OK", [])
            case .denied: return ("401 Unauthorized", [field])
            }
        } catch {
            state.withLock { $0.refusals.append("\(error)") }
            return ("401 Unauthorized", ["WWW-Authenticate: Negotiate"])
        }
    }

    private static func token(_ field: String) -> [UInt8]? {
        guard field.hasPrefix("Negotiate ") else { return nil }
        return Data(base64Encoded: String(field.dropFirst(10))).map(Array.init)
    }
}

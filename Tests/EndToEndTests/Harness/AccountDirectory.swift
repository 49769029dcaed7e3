import Foundation
import Synchronization

/// An origin's directory of accounts, with one account that five wrong passwords in half an hour lock for good, and that can
/// be away: then the origin says `401` to everything, as servers do whose LDAP server does not answer.
final class AccountDirectory: Sendable {
    private struct State {
        var passwords: Set<String>
        var isAway = false
        var wrong: [String: Int] = [:]
        var deniedWhileAway = 0
        var accepted: [String: Int] = [:]
    }

    static let lockLimit = 5
    private let state: Mutex<State>

    init(_ password: String = Account.password) { state = Mutex(State(passwords: [password])) }

    func set(away isAway: Bool) { state.withLock { $0.isAway = isAway } }
    /// Sets the passwords that are right.
    func change(to passwords: Set<String>) { state.withLock { $0.passwords = passwords } }

    /// Wrong passwords that were looked at, by password.
    var wrong: [String: Int] { state.withLock { $0.wrong } }
    var isLocked: Bool { wrong.values.reduce(0, +) >= Self.lockLimit }
    /// The number of answers that came while the directory was away.
    var deniedWhileAway: Int { state.withLock { $0.deniedWhileAway } }
    /// The number of accepted answers by password.
    var accepted: [String: Int] { state.withLock { $0.accepted } }

    fileprivate func admits(_ authorization: String?) -> Bool {
        guard let authorization, authorization.hasPrefix("Basic "),
            let pair = Data(base64Encoded: String(authorization.dropFirst(6)))
        else { return false }
        let password = String(String(decoding: pair, as: UTF8.self).drop { $0 != ":" }.dropFirst())
        return state.withLock { state in
            if state.isAway {
                state.deniedWhileAway += 1
                return false
            }
            guard state.wrong.values.reduce(0, +) < Self.lockLimit else { return false }
            guard state.passwords.contains(password) else {
                state.wrong[password, default: 0] += 1
                return false
            }
            state.accepted[password, default: 0] += 1
            return true
        }
    }
}

extension RecordingOrigin {
    /// An origin that asks for Basic, and says `401` of `/forbidden` to everybody.
    ///
    /// - Parameter realm: the realm of a request.
    static func asking(
        _ directory: AccountDirectory, realm: @escaping @Sendable (Message) -> String = { _ in "r" }
    ) throws -> RecordingOrigin {
        try answering { request, connection in
            let isRight = directory.admits(request["Authorization"]) && !request.target.hasPrefix("/forbidden")
            let challenge = isRight ? [] : ["WWW-Authenticate: Basic realm=\"\(realm(request))\""]
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", challenge, isRight ? "ok" : "")
        }
    }
}

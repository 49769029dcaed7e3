/// An origin that asks for one scheme. Its password can be changed while requests wait to be judged.
struct GuardedOrigin: Sendable {
    enum Scheme: String, CaseIterable, Sendable {
        case basic, digest, ntlm
    }

    private enum Sentry {
        case basic(BasicGuard)
        case digest(DigestGuard)
        case ntlm(NTLMGuard)
    }

    let scheme: Scheme
    let origin: RecordingOrigin
    let hold = Hold()
    private let sentry: Sentry

    init(_ scheme: Scheme) throws {
        self.scheme = scheme
        switch scheme {
        case .basic:
            let sentry = BasicGuard()
            self.sentry = .basic(sentry)
            origin = try .guarded(by: sentry, holding: hold)
        case .digest:
            let sentry = DigestGuard()
            self.sentry = .digest(sentry)
            origin = try .guarded(by: sentry, holding: hold)
        case .ntlm:
            // A connection that stays logged in would say nothing about the password.
            let sentry = NTLMGuard(.init(losesLogin: true, saysSo: true, hold: hold))
            self.sentry = .ntlm(sentry)
            origin = try .guarded(by: sentry)
        }
    }

    /// Sets the password that is right from now on.
    func change(to password: String) {
        switch sentry {
        case .basic(let sentry): sentry.change(to: password)
        case .digest(let sentry): sentry.change(to: password)
        case .ntlm(let sentry): sentry.change(to: password)
        }
    }

    /// The number of answers with a wrong password.
    var wrong: Int {
        switch sentry {
        case .basic(let sentry): sentry.refused
        case .digest(let sentry): sentry.wrong
        case .ntlm(let sentry): sentry.wrong
        }
    }
}

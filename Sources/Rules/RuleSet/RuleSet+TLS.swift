import Bytes

/// What can be known of a host's TLS challenges before its first connection: whether there is anything to ask, and
/// whether connections may be shared between clients.
extension RuleSet {
    /// Whether a rule may decide on the trust of that server.
    ///
    /// - Parameter isProxy: whether it is a parent proxy.
    public func speaksOfTrust(host: Span<UInt8>, port: UInt16, isProxy: Bool = false) -> Bool {
        speaksOfTrust && first(.serverTrust, host, port, isProxy) { _ in true } != nil
    }

    /// Whether a rule may decide on a certificate to show to that server.
    public func speaksOfClientCertificates(host: Span<UInt8>, port: UInt16, isProxy: Bool = false) -> Bool {
        speaksOfClientCertificates && first(.clientCertificate, host, port, isProxy) { _ in true } != nil
    }

    /// Whether a rule about that server's trust, or about a certificate to show to it, asks who the client is. If so,
    /// a connection made for one client says nothing for another.
    public func trustDependsOnClient(host: Span<UInt8>, port: UInt16, isProxy: Bool = false) -> Bool {
        guard speaksOfTrust || speaksOfClientCertificates else { return false }
        for method in [ChallengeMethod.serverTrust, .clientCertificate]
        where first(method, host, port, isProxy, where: { !matchers[$0].rule.clients.isEmpty }) != nil {
            return true
        }
        return false
    }

    private func first(
        _ method: ChallengeMethod, _ host: Span<UInt8>, _ port: UInt16, _ isProxy: Bool, where test: (Int) -> Bool
    ) -> Int? {
        firstBeforeChallenge(host, port, list: Int(method.rawValue), isProxy: isProxy, where: test)
    }
}

import Model

extension Configuration {
    /// The same, but that nothing is answered with a credential: of the rules those about servers' certificates are left.
    public var withoutCredentials: Configuration {
        var configuration = self
        configuration.credentials = []
        configuration.challenges = challenges.filter { MethodSet(.serverTrust).isSuperset(of: $0.effectiveMethods) }
        return configuration
    }
}

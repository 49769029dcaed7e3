extension ProtectionSpace {
    /// What logs and rules call a credential that is kept for this space.
    public func credentialName(of user: String) -> String { "\(user)@\(host):\(port)" }
}

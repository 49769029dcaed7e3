extension ProtectionSpace {
    /// What logs and rules call a credential that is kept for this space.
    public func credentialName(of user: String) -> String { "\(user)@\(host):\(port)" }

    /// The user of such a name, or nil for a name that is another's.
    public func user(ofCredentialNamed name: String) -> String? {
        let suffix = credentialName(of: "")
        return name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : nil
    }
}

/// What the servers accept. The password is unlike anything else that is printed, so that a leak is found by searching.
enum Account {
    static let user = "user"
    /// With the same password; of one test at a time, for servers that keep one state for each user over all connections.
    static let loneUser = "lone"
    static let password = "Winter-Qu33n/7"
    static let unicodeUser = "usér"
    static let unicodePassword = "pässwörd:Æ7q"
    static let colonUser = "user2"
    static let colonPassword = "pw:with:colons:8Zk"
    static let wrongPassword = "Not-The-Qu33n/8"
    /// The password that follows, where a test changes it.
    static let nextPassword = "Spring-Qu33n/9"

    /// Of the proxy's own clients.
    static let clientPassword = "Cl13nt-Pass"

    /// Of the NTLM server's domain.
    static let domain = "NTDOM"
    static let ntlmUsers = ["alice", "bob"]
    static let ntlmPasswords = ["alice": "Al1ce-Pässwörd", "bob": "B0b-Other-Pass"]

    /// Of the Kerberos realm's database, and of its principals.
    static let kerberosPassword = "K3rberos-Master"
    static let principals = [
        "alice": "Al1ce-Ticket-Pass", "bob": "B0b-Ticket-Pass", "planted": "K3rberos/+é%planted",
    ]

    static let secrets =
        [
            password, unicodePassword, colonPassword, wrongPassword, nextPassword, clientPassword,
            ClientCertificate.passphrase,
        ]
        + ntlmPasswords.values + principals.values
}

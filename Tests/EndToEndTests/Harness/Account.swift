/// The users and passwords that the servers accept. The password is unlike anything else that is printed, so that a
/// search finds a leak.
enum Account {
    static let user = "user"
    /// A user with the same password, for one test at a time. It is for servers that keep one state for each user over
    /// all connections.
    static let loneUser = "lone"
    static let password = "Winter-Qu33n/7"
    static let unicodeUser = "usér"
    static let unicodePassword = "pässwörd:Æ7q"
    static let colonUser = "user2"
    static let colonPassword = "pw:with:colons:8Zk"
    static let wrongPassword = "Not-The-Qu33n/8"
    /// The password that follows, where a test changes it.
    static let nextPassword = "Spring-Qu33n/9"

    /// The password of the proxy's own clients.
    static let clientPassword = "Cl13nt-Pass"

    /// The domain of the NTLM server.
    static let domain = "NTDOM"
    static let ntlmUsers = ["alice", "bob"]
    static let ntlmPasswords = ["alice": "Al1ce-Pässwörd", "bob": "B0b-Other-Pass"]

    /// The master password of the Kerberos realm's database, and of its principals.
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

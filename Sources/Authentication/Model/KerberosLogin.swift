/// The tokens of one login, as the side that begins it makes and reads them (RFC 4178 section 4).
public protocol KerberosLogin: AnyObject {
    /// The first token. May take as long as a KDC.
    func begin() async throws(TicketError) -> [UInt8]

    /// What the server's token comes to. Waits for nobody.
    func answer(_ token: [UInt8]) -> KerberosStep

    /// Forgets the ticket if it is not a new one: the service may have another key by now.
    ///
    /// - Returns: whether another ticket could do better.
    func renounceTicket() -> Bool
}

import IO
import Model
import Rules
import TLS
import Upstream

/// Asks a person whether to trust a server's certificate that has problems.
enum TrustQuestion {
    /// Shows the certificates of the server, and asks.
    ///
    /// - Parameter chain: the chain that the server has sent.
    /// - Returns: the rule that trusts the key, and the rule that it has to precede; nil if no rule should trust it.
    /// - Throws: if the answer is no, or there is no terminal.
    static func ask(
        _ host: String, _ port: UInt16, sending chain: PresentedChain, by configuration: Configuration
    ) throws(CommandError) -> (SuggestedTrustRule, before: RuleReference?)? {
        guard let opinion = try? TrustInquiry(configuration).opinion(of: host, port: port, sending: chain),
            let rule = opinion.suggestion
        else { return nil }
        let place = "\(host):\(port)"
        guard Terminal.isStandardInput else {
            throw .failed(
                "the certificate of \(place) is not trusted, and there is no terminal to ask whether to trust it: use --anchor "
                    + "FILE for a CA of your own, or run 'attache trust \(place)' and compare the key")
        }
        Console.print(ServerCertificates(opinion).chain)
        Console.print("\nCompare the key pin with one from another source, such as the console of the server.")
        guard try Console.confirms("Trust the key \(rule.pin) until \(rule.until)?") else {
            throw .failed("nothing was written")
        }
        return (rule, opinion.rule)
    }
}

import Authentication
import Challenges
import Credentials
import IO
import Model
import Rules
import TLS
import Upstream

extension TrustCommand {
    /// The option `attache trust --accept`: stores an exception for the server's key, once a person has confirmed it.
    struct Acceptance {
        private let until: Day
        /// Whether the command line confirms it.
        private let isConfirmed: Bool
        private let place: CredentialStore.Place

        /// Creates it; nil if nothing is to be stored.
        init?(_ arguments: Arguments, _ configuration: Configuration) throws(CommandError) {
            guard arguments.has("accept") else {
                try arguments.refuse(["until", "yes"], "belongs to '--accept'")
                return nil
            }
            guard let text = arguments.value(of: "until") else {
                throw arguments.error("an exception needs a last day: add --until YYYY-MM-DD")
            }
            guard let day = Day(text) else {
                throw arguments.error("'\(Console.printable(text))' is not a day such as 2027-01-31")
            }
            if day < .today { throw arguments.error("\(day) is in the past") }
            if arguments.has("name") {
                throw arguments.error("an exception is for any name in the certificate: remove '--name'")
            }
            place = try .known(by: configuration)
            until = day
            isConfirmed = arguments.has("yes")
        }

        /// Throws if there is no way to ask for confirmation.
        func check() throws(CommandError) {
            guard !isConfirmed, !Terminal.isStandardInput else { return }
            throw .failed(
                "there is no terminal to confirm: compare the key pin with one from another source, then add --yes")
        }

        /// - Parameter opinion: what the person has seen about the server.
        func run(on opinion: TrustOpinion, of host: String, port: UInt16) throws(CommandError) {
            guard opinion.isTrustedByException || !opinion.isTrusted else {
                throw .failed("nothing was stored: no exception is needed")
            }
            guard opinion.wouldBeExcepted else { throw .failed("nothing was stored: no exception forgives that") }
            let pin = opinion.chain.leaf.publicKeyPin
            guard isConfirmed ? true : try Console.confirms("Trust the key \(pin) until \(until)?") else {
                throw .failed("nothing was stored")
            }
            let space = ProtectionSpace(trustOf: host, port: port)
            let credential = Credential(
                name: space.credentialName(of: "\(pin)"), trust: TrustException(pin: pin, until: until),
                persistence: .permanent)
            try StoreEditing.openOrMake(place) { store throws(CommandError) in
                try store.set(credential, for: space, asDefault: false)
            }
            let url = space.origin.commandURL
            Console.print(
                "\nThis key is trusted until \(until). To undo this:\n\n"
                    + "  attache credential remove \(url) \(pin) --method \(space.authenticationMethod)")
        }
    }
}

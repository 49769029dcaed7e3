import Admin
import Authentication
import Bytes
import Credentials
import Crypto
import IO
import Model

extension CredentialCommand {
    /// The command `attache credential import`: reads another program's credential file, and selects what to store.
    struct Import {
        let isTrial: Bool
        private let file: String
        private let format: CredentialFileKind?
        private let key: ValueSource?
        private let scheme: String
        private let terms: SpaceTerms
        private let saysMethod: Bool

        private static let limit = 64 << 20

        init(_ arguments: Arguments) throws(CommandError) {
            guard let file = arguments.operand(1) else { throw arguments.error("FILE is missing") }
            self.file = file
            isTrial = arguments.has("dry-run")
            format = try arguments.value(of: "format").map { name throws(CommandError) in
                try arguments.choice("format", name)
            }
            key = arguments.has("key") ? try .init(arguments, option: "key", operand: 2) : nil
            if key == nil, arguments.operand(2) != nil { throw arguments.error("'import' takes one FILE") }
            scheme = arguments.value(of: "protocol") ?? "https"
            guard ["https", "http", "ftp"].contains(scheme) else {
                throw arguments.error(Arguments.unknown("protocol", scheme, among: ["https", "http", "ftp"]))
            }
            saysMethod = arguments.has("method")
            terms = try SpaceTerms(arguments, defaultMethod: .default, kinds: [.password])
        }

        // MARK: - Reading

        /// All of it, or the reason why nothing is taken.
        func read() throws(CommandError) -> [CredentialStore.Entry] {
            let content = try content()
            do throws(CredentialFileKind.Problem) {
                let kind = try content.withBytes { text throws(CredentialFileKind.Problem) in
                    if let format { return format }
                    return try CredentialFileKind(of: text)
                }
                let found = try content.withBytes { text throws(CredentialFileKind.Problem) in try kind.read(text) }
                if let found {
                    if found.isEmpty {
                        throw CredentialFileKind.Problem(
                            line: nil,
                            "there is no credential in it, read as \(Self.words(for: kind)); --format says another")
                    }
                    return try kept(found, kind)
                }
            } catch { throw failure(error) }
            return try opened(content)
        }

        private func content() throws(CommandError) -> Secret {
            do throws(FileError) {
                var bytes =
                    try file == "-"
                    ? SmallFile.readStandardInput(limit: Self.limit)
                    : SmallFile.read(file, limit: Self.limit)
                return Secret(wiping: &bytes)
            } catch {
                switch error {
                case .tooLarge: throw .failed("\(name) is larger than \(Self.limit >> 20) MiB")
                case .system(let errno): throw .failed("cannot read \(name): \(IOError.sentence(for: errno))")
                }
            }
        }

        private var name: String { file == "-" ? "standard input" : file }

        private static func words(for kind: CredentialFileKind) -> String {
            switch kind {
            case .netrc: "a netrc file"
            case .curl: "curl's configuration"
            case .export: "an export"
            }
        }

        private func failure(_ problem: CredentialFileKind.Problem) -> CommandError {
            .failed("\(name):\(problem.line.map { "\($0):" } ?? "") \(problem.sentence); nothing was imported")
        }

        private func opened(_ content: Secret) throws(CommandError) -> [CredentialStore.Entry] {
            guard let key else {
                throw .failed(
                    "\(name) is an export: add its key, --key file NAME or --key env NAME")
            }
            let sealingKey = try CommandError.failing { try SealingKey(reading: key, environment: Environment.all) }
            do throws(CredentialFileKind.Problem) {
                return try content.withBytes { text throws(CredentialFileKind.Problem) in
                    try SealedCredentials.read(text, openedWith: sealingKey)
                }
            } catch { throw failure(error) }
        }

        private func kept(
            _ found: FoundCredentials, _ kind: CredentialFileKind
        ) throws(CredentialFileKind.Problem) -> [CredentialStore.Entry] {
            if let only = found.onlyMethod, !saysMethod {
                throw CredentialFileKind.Problem(
                    line: only.line,
                    "'\(only.name)' allows no other method, and the store is to know which: say --method, and --realm where it "
                        + "has one")
            }
            for omission in found.omissions {
                Console.error("\(name):\(omission.line): \(omission.sentence)")
            }
            var batch: [CredentialStore.Entry] = []
            var passwords: [ProtectionSpace: [ExactText: Secret]] = [:]
            for one in found.credentials {
                let space = terms.space(of: try origin(of: one))
                guard Console.printable(one.user) == one.user else {
                    throw CredentialFileKind.Problem(line: one.line, "the user's name has a control character in it")
                }
                if space.authenticationMethod == .basic, one.user.contains(":") {
                    throw CredentialFileKind.Problem(line: one.line, "a user's name cannot have a colon in it")
                }
                if let known = passwords[space]?[ExactText(one.user)] {
                    // curl's configuration names a user once for each URL of a server.
                    if known == one.password { continue }
                    throw CredentialFileKind.Problem(
                        line: one.line, "the same user has another password in an earlier line")
                }
                let credential = Credential(
                    name: space.credentialName(of: one.user), user: one.user, password: one.password,
                    persistence: .permanent)
                // The first is the one that the file's own program uses.
                batch.append(CredentialStore.Entry(credential, for: space, isDefault: passwords[space] == nil))
                passwords[space, default: [:]][ExactText(one.user)] = one.password
            }
            return batch
        }

        private func origin(of found: FoundCredentials.Entry) throws(CredentialFileKind.Problem) -> Origin {
            do throws(ExplanationError) {
                switch found.server {
                case .host(let host):
                    let isAddress = host.contains(":") && IPAddress(host) != nil
                    let origin = try Origin(url: "\(scheme)://\(isAddress ? "[\(host)]" : host)/", isProxy: false)
                    guard isAddress || origin.host == HostSpelling.canonical(host) else {
                        throw ExplanationError("'\(Console.printable(host))' is not a host")
                    }
                    // Like curl, which looks for the host alone.
                    return origin.onAnyPort
                case .url(let url): return try Origin(url: url, isProxy: false)
                case .proxy(let url): return try Origin(url: url, isProxy: true)
                }
            } catch { throw CredentialFileKind.Problem(line: found.line, error.sentence) }
        }

        // MARK: - Keeping

        /// A space that has a default keeps it.
        func keep(_ batch: [CredentialStore.Entry], in store: StoreEditing) throws(CommandError) {
            let states = store.states(of: batch)
            try ProgressReport.run("keeping credentials") { work throws(CommandError) in
                try store.keep(
                    batch, observedBy: work,
                    stopped: work.stopped("stopped: nothing of \(name) was stored; run the command again"))
            }
            Console.print("kept \(Self.count(batch, states))")
            let isSealed = key != nil && format != .netrc && format != .curl
            if file != "-", !isSealed, !batch.isEmpty {
                Console.error("\(file) still has the passwords unencrypted: remove it when nothing else reads it")
            }
        }

        /// Shows the changes that `keep` would make.
        func show(_ batch: [CredentialStore.Entry], beside store: StoreEditing?) throws(CommandError) {
            let states = store?.states(of: batch) ?? batch.map { _ in .new }
            let rows = zip(store?.settled(batch) ?? batch, states).compactMap { kept, state in
                kept.credential.storedName(for: kept.space).map { name in
                    [
                        state.rawValue, "\(kept.isDefault ? "*" : " ") \(Console.printable(name))",
                        kept.space.authenticationMethod.storedKind.rawValue,
                        kept.space.described(until: kept.credential.lastDay),
                    ]
                }
            }
            // By the space, then by the name without its mark.
            let sorted = rows.sorted { ($0[3], $0[1].dropFirst()) < ($1[3], $1[1].dropFirst()) }
            for line in CredentialTable.lines(sorted) { Console.print(line) }
            Console.error("nothing was stored; without --dry-run it would be \(Self.count(batch, states))")
        }

        private static func count(_ batch: [CredentialStore.Entry], _ states: [StoreEditing.State]) -> String {
            let parts = StoreEditing.State.allCases.compactMap { state in
                let count = states.count { $0 == state }
                return count == 0 ? nil : "\(count) \(state.rawValue)"
            }
            let noun = batch.count == 1 ? "credential" : "credentials"
            return "\(batch.count) \(noun)\(parts.isEmpty ? "" : ": ")\(parts.joined(separator: ", "))"
        }
    }
}

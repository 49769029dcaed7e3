/// The command `attache deploy`: prints the files by which a service manager or a cluster runs the proxy.
struct DeployCommand: Command {
    static let syntax = CommandSyntax(
        name: "deploy", summary: "print a systemd unit, a compose file or manifests for Kubernetes",
        operands: [CommandOperand(name: "PLACE", choices: Place.allCases.map(\.rawValue))],
        options: [
            CommandOption(
                name: "sidecar", summary: ["kubernetes: a container in the application's pod (default)"]),
            CommandOption(
                name: "service", summary: ["kubernetes: a service with three replicas that share a store"]),
            CommandOption(
                name: "name", value: "NAME", summary: ["compose, kubernetes: the name of the objects; default: attache"]
            ),
            CommandOption(
                name: "program", value: "FILE", summary: ["systemd: the binary; default: /usr/bin/attache"]),
            CommandOption(
                name: "user", summary: ["systemd: a unit of the user's own manager, for ~/.config/systemd/user"]),
            CommandOption(
                name: "socket", summary: ["systemd: print the socket unit instead of the service unit"]),
        ],
        details: """
            PLACE is systemd, compose or kubernetes. Edit what it prints: images, hosts and credentials are
            examples. Nothing runs as root, and every root file system is read-only.

                attache deploy systemd --program /usr/local/bin/attache > /etc/systemd/system/attache.service
                attache deploy compose > compose.yaml
                attache deploy kubernetes --sidecar --name ci-proxy | kubectl apply -f -

            The systemd unit needs a user 'attache', and 'state /var/lib/attache' in /etc/attache/proxy.conf.
            With --user, it is a unit for the manager of the user who is logged in. It needs no root, and runs
            with the rule file of 'attache init':

                attache deploy systemd --user > ~/.config/systemd/user/attache.service
                systemctl --user enable --now attache

            The proxy tells systemd when it is ready, reloads and stops. For LoadCredential=ci:FILE, write
            'password file /run/credentials/attache.service/ci' in the rule file.

            With the unit of '--socket' enabled, systemd listens and starts the proxy with the first client.
            While the proxy restarts, clients wait. The proxy uses those sockets whose address is in 'listen' or
            'admin'.
            """)

    enum Place: String, CaseIterable {
        case systemd, compose, kubernetes
    }

    private let text: String

    init(_ arguments: Arguments) throws(CommandError) {
        let word = arguments.operand(0) ?? ""
        guard let place = Place(rawValue: word) else {
            throw arguments.error(Arguments.unknown("place", word, among: Place.allCases.map(\.rawValue)))
        }
        let useful: Set<String> =
            switch place {
            case .systemd: ["program", "socket", "user"]
            case .compose: ["name"]
            case .kubernetes: ["name", "sidecar", "service"]
            }
        for option in Self.syntax.options where arguments.has(option.name) && !useful.contains(option.name) {
            throw arguments.error("'--\(option.name)' cannot be used with \(place.rawValue)")
        }
        if arguments.has("sidecar"), arguments.has("service") {
            throw arguments.error("'--sidecar' and '--service' exclude each other")
        }
        let name = arguments.value(of: "name") ?? "attache"
        guard Self.isLabel(name) else {
            throw arguments.error("'--name' has up to 40 letters a to z, digits and hyphens, and begins with a letter")
        }
        let program = arguments.value(of: "program") ?? Self.packaged
        guard Self.isPlainPath(program) else {
            throw arguments.error("'--program' must be a full path of letters, digits and the characters / . _ + -")
        }
        let bytes =
            switch place {
            case .systemd:
                arguments.has("socket")
                    ? PackageResources.attache_socket
                    : arguments.has("user") ? PackageResources.attache_user_service : PackageResources.attache_service
            case .compose: PackageResources.compose_yaml
            case .kubernetes:
                arguments.has("service") ? PackageResources.service_yaml : PackageResources.sidecar_yaml
            }
        text = String(decoding: bytes.dropLast(), as: UTF8.self)
            .replacing("@NAME@", with: name).replacing("\(Self.packaged) ", with: "\(program) ")
    }

    func run() -> Int32 {
        Console.print(text)
        return ExitStatus.success
    }

    private static let packaged = "/usr/bin/attache"

    /// Whether the name can be a label in Kubernetes, which adds words to it and allows 63 letters.
    private static func isLabel(_ name: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let hyphen = UInt8(ascii: "-")
        guard (1...40).contains(name.utf8.count), let first = name.utf8.first, letters.contains(first),
            name.utf8.last != hyphen
        else { return false }
        return name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == hyphen }
    }

    /// Whether the path has the same meaning in a unit: without spaces, quotes or `%`.
    private static func isPlainPath(_ path: String) -> Bool {
        path.hasPrefix("/")
            && path.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                    || "/._+-".unicodeScalars.contains(scalar)
            }
    }
}

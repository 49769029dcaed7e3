import Bytes
import IO
import Rules

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
                name: "helm", value: "DIR",
                summary: ["kubernetes: write a Helm chart of the service into this directory"]),
            CommandOption(
                name: "config", value: "FILE",
                summary: ["kubernetes: the rule file of the manifests; default: an example"]),
            CommandOption(
                name: "name", value: "NAME", summary: ["compose, kubernetes: the name of the objects; default: attache"]
            ),
            CommandOption(
                name: "namespace", value: "NAME",
                summary: ["kubernetes: the namespace of the objects; default: that of kubectl"]),
            CommandOption(
                name: "image", value: "IMAGE",
                summary: ["compose, kubernetes: the proxy's image; default: attache:latest"]),
            CommandOption(
                name: "host", value: "HOST",
                summary: ["kubernetes: the server that the example rule answers; default:", "ci.example.com"]),
            CommandOption(
                name: "program", value: "FILE", summary: ["systemd: the binary; default: /usr/bin/attache"]),
            CommandOption(
                name: "user", summary: ["systemd: a unit of the user's own manager, for ~/.config/systemd/user"]),
            CommandOption(
                name: "helpers",
                summary: ["systemd: let credential helpers use their own memory and home directories"]),
            CommandOption(
                name: "socket", summary: ["systemd: print the socket unit instead of the service unit"]),
        ],
        details: """
            PLACE is systemd, compose or kubernetes. Edit what it prints: images, hosts and credentials are
            examples. Nothing runs as root, and every root file system is read-only.

                attache deploy systemd --program /usr/local/bin/attache > /etc/systemd/system/attache.service
                attache deploy compose > compose.yaml
                attache deploy kubernetes --sidecar --name ci-proxy | kubectl apply -f -
                attache deploy kubernetes --service --config proxy.conf --image registry.example.com/attache:0.1
                attache deploy kubernetes --helm chart

            The NetworkPolicy of '--service' and of the chart permits what 'egress' in the rule file permits. A
            rule file of '--config' needs port 3128 in 'listen' and port 3127 in 'admin', and names secrets by
            their paths in the pod: /run/secrets/attache/NAME. The chart has image, replicas, rules and egress
            in values.yaml. No file that exists is overwritten. Then run 'helm install NAME ./chart'.

            The systemd unit needs a user 'attache', and 'state /var/lib/attache' in /etc/attache/proxy.conf.
            With --user, it is a unit for the manager of the user who is logged in. It needs no root, and runs
            with the rule file of 'attache init':

                attache deploy systemd --user > ~/.config/systemd/user/attache.service
                systemctl --user enable --now attache

            The unit's filters bind the programs of 'helper' and 'run', too. With --helpers, it has no
            MemoryDenyWriteExecute, which stops programs on Node.js and .NET, and no ProtectHome.

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
    /// The chart's directory and its files; nil: the text is printed.
    private var chart: (folder: String, files: [(path: String, text: String)])?

    init(_ arguments: Arguments) throws(CommandError) {
        let place: Place = try arguments.choice("place", arguments.operand(0) ?? "")
        let useful: Set<String> =
            switch place {
            case .systemd: ["program", "socket", "user", "helpers"]
            case .compose: ["name", "image"]
            case .kubernetes: ["name", "sidecar", "service", "helm", "config", "namespace", "image", "host"]
            }
        let useless = Self.syntax.options.map(\.name).filter { !useful.contains($0) }
        try arguments.refuse(useless, "cannot be used with \(place.rawValue)")
        for (one, other) in [
            ("sidecar", "service"), ("sidecar", "helm"), ("config", "host"), ("helm", "namespace"),
            ("socket", "helpers"),
        ] where arguments.has(one) && arguments.has(other) {
            let hint = other == "namespace" ? ": use 'helm install --namespace'" : ""
            throw arguments.error("'--\(one)' and '--\(other)' exclude each other\(hint)")
        }
        let values = try Self.values(arguments)
        let program = arguments.value(of: "program") ?? Self.packaged
        // Such a path has the same meaning in a unit.
        guard program.hasPrefix("/"), Self.isWord(program, with: "/._+-") else {
            throw arguments.error("'--program' must be a full path of letters, digits and the characters / . _ + -")
        }
        switch place {
        case .systemd:
            let bytes =
                arguments.has("socket")
                ? PackageResources.attache_socket
                : arguments.has("user") ? PackageResources.attache_user_service : PackageResources.attache_service
            let unit = Self.text(bytes).replacing("\(Self.packaged) ", with: "\(program) ")
            text = arguments.has("helpers") ? Self.openToHelpers(unit) : unit
        case .compose:
            text = Self.text(PackageResources.compose_yaml).replacing("@NAME@", with: values.name)
                .replacing("image: attache:latest", with: "image: \(values.image ?? "attache:latest")")
        case .kubernetes:
            let isService = arguments.has("service") || arguments.has("helm")
            let form = Self.text(isService ? PackageResources.service_yaml : PackageResources.sidecar_yaml)
            let manifest = try Manifest(form, values)
            text = manifest.text
            chart = arguments.value(of: "helm").map { ($0, manifest.chart) }
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.dropLast(), as: UTF8.self) }

    private static func values(_ arguments: Arguments) throws(CommandError) -> Manifest.Values {
        var values = Manifest.Values()
        values.name = arguments.value(of: "name") ?? values.name
        guard isLabel(values.name) else {
            throw arguments.error("'--name' has up to 40 letters a to z, digits and hyphens, and begins with a letter")
        }
        values.namespace = arguments.value(of: "namespace")
        guard values.namespace.map({ isLabel($0, longest: 63) }) ?? true else {
            throw arguments.error(
                "'--namespace' has up to 63 letters a to z, digits and hyphens, and begins with a letter")
        }
        values.image = arguments.value(of: "image")
        guard values.image.map({ isWord($0, with: "/._+-:@") }) ?? true else {
            throw arguments.error("'--image' is the name of an image, such as registry.example.com/attache:0.1")
        }
        values.host = arguments.value(of: "host").map { $0.lowercased() }
        guard values.host.map({ isWord($0, with: ".-") && (try? HostPattern($0)) != nil }) ?? true else {
            throw arguments.error("'--host' is the name of a server without a port, such as ci.example.com")
        }
        values.rules = try arguments.value(of: "config").map { path throws(CommandError) in
            try Manifest.RuleText(
                WholePath.lexical(path), isService: arguments.has("service") || arguments.has("helm"))
        }
        return values
    }

    func run() throws(CommandError) -> Int32 {
        guard let (folder, files) = chart else {
            Console.print(text)
            return ExitStatus.success
        }
        do throws(IOError) {
            try DurableFile.makeDirectory("\(folder)/templates", mode: 0o755)
            for (path, text) in files {
                try DurableFile.write(text.utf8Span.span, to: "\(folder)/\(path)", mode: 0o644, replacing: false)
            }
        } catch { throw .failed("\(error)") }
        Console.print("written: \(files.map { "\(folder)/\($0.path)" }.joined(separator: ", "))")
        return ExitStatus.success
    }

    private static let packaged = "/usr/bin/attache"

    /// Whether the name can be a label in Kubernetes, which adds words to some and allows 63 letters.
    private static func isLabel(_ name: String, longest: Int = 40) -> Bool {
        isWord(name, with: "-") && name.utf8.count <= longest && name == name.lowercased()
            && name.first?.isLetter == true && name.last != "-"
    }

    /// Removes what credential helpers cannot live with.
    private static func openToHelpers(_ unit: String) -> String {
        let lines = unit.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { $0 != "MemoryDenyWriteExecute=yes" && $0 != "ProtectHome=yes" }.joined(separator: "\n")
    }

    /// Whether the text has only ASCII letters, digits and these characters. It has at least one.
    private static func isWord(_ text: String, with others: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isAlphanumeric || others.utf8.contains($0) }
    }
}

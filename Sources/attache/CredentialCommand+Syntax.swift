extension CredentialCommand {
    static let syntax = CommandSyntax(
        name: "credential", summary: "show and change the stored credentials",
        operands: [
            CommandOperand(name: "ACTION"), CommandOperand(name: "URL|FILE", isOptional: true),
            CommandOperand(name: "USER|NAME", isOptional: true),
        ],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(
                name: "realm", value: "TEXT",
                summary: ["the protection space's realm, as the server's challenge says it"]),
            CommandOption(
                name: "method", value: "METHOD",
                summary: [
                    "basic (default), digest, ntlm, negotiate, or any: whichever of them the",
                    "server asks for, in whatever realm; the last three have no realm; 'import'",
                    "takes any; negotiate is answered where a rule names it",
                ]),
            CommandOption(
                name: "proxy", value: "yes|no", summary: ["whether a proxy asks for it, with 407; default: no"]),
            CommandOption(
                name: "password-file", value: "FILE",
                summary: ["where 'set' finds the password; one newline at its end is no part of it"]),
            CommandOption(
                name: "default", value: "yes|no",
                summary: [
                    "whether 'set' makes it the one that requests are answered with;", "default: if there is none",
                ]),
            CommandOption(
                name: "persistence", value: "HOW",
                summary: ["how long 'set' keeps it: permanent, as all that is stored"]),
            CommandOption(
                name: "format", value: "FORMAT",
                summary: ["what 'import' reads: netrc, curl or export; default: what it looks like"]),
            CommandOption(
                name: "protocol", value: "NAME",
                summary: ["how the hosts of a netrc file are spoken to: https (default), http or ftp"]),
            CommandOption(
                name: "key", value: "file|env",
                summary: ["what an export is opened with: 'file NAME' or 'env NAME'"]),
            CommandOption(name: "dry-run", summary: ["show what 'import' would keep, and keep nothing"]),
            CommandOption(
                name: "to", value: "file|env",
                summary: ["what an export is sealed with: 'file NAME' or 'env NAME'"]),
        ],
        details: """
            ACTION is 'set', 'list', 'remove', 'default', 'import' or 'export'.

            'set URL USER' keeps a credential for the protection space of the URL's server, or gives it a new
            password. It asks for the password twice without showing it; where standard input is no terminal,
            it is read from there. 'remove URL USER' forgets it. 'default URL USER' makes it the one that the
            space's challenges are answered with where the rules say 'default' or nothing. 'list' shows what
            is there, and no secret.

            'import FILE' keeps what a netrc file holds, or the users in a configuration file of curl's (curl
            --config); '-' is standard input. All of it is kept, or, where a line is not understood, nothing.
            Neither file knows of realms: the credentials are for whichever method and realm the server asks
            with, unless --method and --realm say more.

            'export --to file NAME' writes all credentials to standard output, each sealed under the key that
            NAME holds, 32 bytes as 64 hexadecimal digits or 44 characters of base64; 'import FILE --key file
            NAME' keeps them in another store.

            A running proxy that has the store open goes by a change within a second.

                attache credential set http://ci.example.com/ builder --realm Jenkins --method digest
                attache credential import ~/.netrc --dry-run
            """)
}

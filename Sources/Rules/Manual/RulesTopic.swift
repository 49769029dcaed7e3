extension ManualTopic {
    static let rules = ManualTopic(
        "rules", "the rule file: words, units, hosts, files",
        #"""
        The rule file says which credential answers which server, and how requests travel. This page explains how to write
        it. An empty file is valid, because every directive has a default.

            # who logs in, and where
            credential ci { user builder; password file /run/secrets/ci }
            challenge "build server" { host ci.example.com; use ci }

        `attache init URL` makes the file, or adds a server to it. `attache check` shows every error with its line and a hint. `attache explain` shows which rule decides about a
        request, and why the others do not.

            $ attache check proxy.conf
            $ attache explain --ask http://ci.example.com/job
            $ attache reload

        A directive ends at the end of its line, at `;` or at the closing brace. `#` begins a comment, where a word could
        begin. Text with blanks needs quotes. In quotes, \" \\ \n \t are a quote, a backslash, a line end and a tab.

        = The file that is used
        `--config FILE` names it, or else the variable ATTACHE_CONFIG. Without both, it is the first of these that exists:
        ./proxy.conf, ~/.config/attache/proxy.conf (below $XDG_CONFIG_HOME, if that is set), and /etc/attache/proxy.conf.
        This is so for every command. A command that asks the running proxy stops if that uses another file.

        In a container, ATTACHE_LISTEN and ATTACHE_LOG replace `listen` and `log` of the file, such as
        ATTACHE_LISTEN="0.0.0.0:3128" and ATTACHE_LOG="json stderr".

        = Sizes
        64k, 64m, 1g are powers of 1024. A bare number is bytes.

        = Durations
        500ms, 10s, 5m, 1h. The unit is required.

        = Addresses
        10.0.0.7 and ::1 are addresses. 10.0.0.0/8 and fd00::/8 are blocks.

        = Hosts
        ci.example.com is this name only. *.example.com is every name below example.com, but not example.com itself. In
        ci-*.example.com the `*` stays within its label. 10.0.0.0/8 matches a request whose URL has such an address. `*`
        matches every host. Case, a dot at the end and the form of an IPv6 address make no difference. ::ffff:10.0.0.7 is
        the same as 10.0.0.7. Write names beyond ASCII in their xn-- form, such as xn--bcher-kva.example. `check` prints
        this form, if libidn2 is installed (Debian: libidn2-0).

        = Secrets
        `env NAME` or `file PATH` may replace a value. A user, a password, a passphrase and the users file are read when
        they are used, and again when they change. All other values are read together with the rules. One newline at the
        end of a file does not count. Where a path is expected, write the path alone, without `file`. A relative path
        starts at the directory of the file that contains it.

        = include PATH
        Inserts the directives of another file. It takes no `*`. There can be 64 files, of 1 MiB each. There can be 65,536
        `route` blocks and 65,536 `challenge` blocks. `check` warns about a block that can never match, among the first
        1,024 of each.

        = Reload
        Send SIGHUP, or run `attache reload`, which waits and prints the result. `attache run --watch` reloads when the
        file changes. A file with an error does not start the proxy. On a reload, the rules that run stay in force.
        """#)
}

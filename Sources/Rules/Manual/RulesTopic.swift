extension ManualTopic {
    static let rules = ManualTopic(
        "rules", "the rule file: words, units, hosts, files",
        #"""
        The rule file says which servers the proxy has credentials for, and how requests travel. An empty file is a valid
        one: every directive has a default. The program takes ./proxy.conf, else /etc/attache/proxy.conf, unless
        --config names another. `attache check` shows every error with its line and a hint, and `attache explain` shows
        which rule would decide about a request, and why the others would not.

            $ attache check proxy.conf
            $ attache explain --ask http://ci.example.com/job

        A directive ends at the end of its line, at `;` or at the closing brace. `#` begins a comment where a word could
        begin. A text with blanks stands in quotes, in which \" \\ \n \t are a quote, a backslash, a line end and a tab.

            # who logs in, and where
            credential ci { user builder; password file /run/secrets/ci }
            challenge "build server" { host ci.example.com; use ci }

        = Sizes
        64k, 64m, 1g: powers of 1024; a bare number is bytes.

        = Durations
        500ms, 10s, 5m, 1h: always with a unit.

        = Addresses
        10.0.0.7, ::1; blocks are 10.0.0.0/8 and fd00::/8.

        = Hosts
        ci.example.com is this name. *.example.com is every name below it, and not itself. In ci-*.example.com the `*`
        stays within its label. 10.0.0.0/8 holds for a request that names an address, and `*` for every host. Case, a
        dot at the end and the form of an IPv6 address make no difference, and ::ffff:10.0.0.7 is 10.0.0.7. A name
        beyond ASCII is written in its xn-- form, such as xn--bcher-kva.example; `check` tells this form, with libidn2
        (Debian: libidn2-0).

        In the place of a value may stand `env NAME` or `file PATH`. Of a user, a password, a passphrase and the users
        file these are read when they are used, and again when they change; of all else when the rules are read. One
        newline at the end of a file is no part of the value. Where a path is wanted it stands alone, without `file`.
        Relative paths start at the directory of the file that says them.

        `include PATH` puts another file's directives in its place, and reads no globs: 64 files at most, of 1 MiB each.
        There may be 65,536 `route` and as many `challenge`; a warning that one of them is never reached is given for the
        first 1,024 of each.

        Any error refuses the start. On a reload it keeps the rules that run. A reload is asked for by SIGHUP or by
        `attache reload`, which waits and says what came of it; `attache run --watch` reloads when the file changes.

            $ attache reload
        """#)
}

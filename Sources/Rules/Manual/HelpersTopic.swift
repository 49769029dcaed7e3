extension ManualTopic {
    static let helpers = ManualTopic(
        "helpers", "secrets from programs (credential helpers, password managers)",
        """
        Use this if a program has the secret: a credential helper of git or Docker, a password manager such as pass, or the
        command of a cloud or a vault.

            credential forge { helper git git-credential-store }
            credential hub   { helper docker docker-credential-pass; registry https://auth.docker.io/token }
            credential lab   { user builder; password run pass show ci/builder; environment GNUPGHOME PASSWORD_STORE_DIR }
            credential api   { helper plain gh auth token; keep 10m }
            challenge "forge" { host git.example.com; secure yes; use forge }

        `helper` gives a whole credential. `run` gives one value: the first line that the program prints. It can stand for the
        value of `user`, `password`, `token`, `client-secret` and `refresh-token`, as `env` and `file` do.

        = When the program runs
        When a server first asks for the login. 64 clients that wait cause one run. The proxy keeps the value in memory until
        a server refuses it, until its end, or for `keep`. A value that ends is read again before that. After a refusal the
        program runs once more; another value is another attempt ('attache help refusals'). A program that fails is not run
        again for 5 seconds, then 30 seconds, then 5 minutes. Meanwhile the client gets the server's 401, with the reason in
        Proxy-Status. `attache reload --retry` ends the pause.

        = The kinds
        `plain`: one line is a token, two lines are a user and a password. `git` (gitcredentials(7)) gets protocol, host and
        the server's challenges. It gets `store` when a server first accepts its answer, and `erase` when one refuses it,
        but not after errors or a 403. `docker` gets the server's URL, and then its host and port. With `registry`, its user
        `<token>` is an identity token. A rule with `git` or `docker` needs `host`. A credential keeps the answers for 64
        servers.

        = How the program runs
        No shell: `~`, `$` and `|` are plain text. Write a whole path, or the name of a program in /usr/local/bin, /usr/bin and
        the like, or of a `git-credential-…` of git. Root or the proxy's user must own it, and no other user may be able to
        write it. This is checked before each run. It gets PATH, LANG=C.UTF-8, HOME (the state directory) and the variables of
        `environment`. It has a session of its own, at most 1,024 descriptors, and `timeouts { helper }`. When it ends, the
        rest of its process group is killed; a program that must go on, such as an agent, needs `setsid`. At most four run at
        once. More than 64 KiB of output, a CR or a NUL in it, or a line without `=` where git has one, is a failure. If it
        fails, the first line of its errors is logged.

        It runs as the proxy's user. The systemd unit keeps it from writable memory that is executable, and from home
        directories (`MemoryDenyWriteExecute`, `ProtectHome`): `attache deploy systemd --helpers` leaves these two out.
        """, ManualTopic.Entry.of(CredentialDirective.helper, .environment, .keep))
}

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

        `helper` gives a whole credential. `run` gives one value: the first line that the program prints. It can stand for any
        secret, as `env` and `file` do: `password`, `token`, `passphrase`, `client-secret`, `secret-key` and so on. Its
        arguments go to the end of the directive.

        = When the program runs
        When a server first asks for the login. 64 clients that wait cause one run. The proxy keeps the value in memory until
        a server refuses it, until its end, or for `keep`. A value that ends is read again before that. After a refusal the
        program runs once more; another value is another attempt ('attache help refusals'). A program that fails is not run
        again for 5 seconds, then 30 seconds, then 5 minutes. Meanwhile the client gets the server's response, with the reason
        in Proxy-Status. `attache reload --retry` ends the pause. attache_helper_runs_total counts the runs.

        = The kinds
        `plain`: one line is a token, two lines are a user and a password.

        `git` (gitcredentials(7)) gets protocol, host and the server's challenges. It gets `store` when a server first accepts
        its answer, and `erase` when one refuses it, but not after errors or a 403.

        `docker` gets the server's URL, and then its host and port. With `registry`, its user `<token>` is an identity token.

        `kubectl` runs a credential plugin of Kubernetes, such as `aws eks get-token`, and reads an ExecCredential of v1 or
        v1beta1. Its token answers Bearer. Its certificate and key answer a server that asks for them; write `method
        client-certificate`. A plugin may give both, for a server that asks for both: write `method bearer client-certificate`.
        They are one value: a server that refuses one of them puts both on hold.

        `aws` runs a credential process of AWS. Its keys sign requests, as `aws` says.

        `bazel` gets the server's URL. All fields that it prints go with the request.

        `cargo` runs a credential provider with `--cargo-plugin`. What it gives is the whole value of Authorization.

        A rule with `git`, `docker`, `bazel` or `cargo` needs `host`. A credential keeps the answers for 64 servers. `path yes`
        lets git's and Bazel's helpers see the path of the request.

            credential cluster { helper kubectl aws eks get-token --cluster-name ci; environment AWS_PROFILE }
            credential bucket { aws eu-central-1 s3; helper aws aws configure export-credentials --format process }

        = Schemes that only the helper knows
        With `method other`, the answers of `git`, `bazel` and `cargo` go to the server as they are, in any scheme. A git
        helper names the scheme in `authtype` and the answer in `credential`. With `ephemeral`, or `"cache":"never"` of Cargo,
        the answer is for one request alone, and the helper is asked again for the next challenge. With `continue`, the next
        challenge on the connection goes back to the helper, with its `state[]`. A login has four requests at most. The proxy
        counts all answers for one request as one value: after a refusal the credential is on hold.

            credential odd { helper git /usr/local/bin/odd-login }
            challenge "odd" { host old.example.com; secure yes; method other; use odd }

        = A process of another user
        With `helper KIND unix:PATH` no program is started (`run` takes no socket). The proxy connects to the socket, sends what
        a program would read, ends its side, and reads the answer to its end: one request for each connection. A git helper
        gets one line more, `action=get`, `store` or `erase`. The process must belong to the owner of the socket's file. Only
        root, that owner or the proxy's user may own its directory. This is the way for the image from scratch, which has no
        programs. For example, `socat UNIX-LISTEN:helper.sock,mode=666,fork EXEC:"git-credential-store get"` serves a helper
        of git.

        = How the program runs
        No shell: `~`, `$` and `|` are plain text. Write a whole path, or the name of a program in /usr/local/bin, /usr/bin and
        the like, or of a `git-credential-…` of git. Root or the proxy's user must own it, and no other user may be able to
        write it. This is checked before each run. It gets PATH, LANG=C.UTF-8, HOME (the state directory) and the variables of
        `environment`. It has a session of its own, at most 1,024 descriptors, and `timeouts { helper }`. When it ends, the
        rest of its process group is killed; a program that must go on, such as an agent, needs `setsid`. At most four run at
        once. More than 64 KiB of output, a CR or a NUL in a value, or a line without `=` where git has one, is a failure. If
        it fails, the first line of its errors is logged.

        It runs as the proxy's user. The systemd unit keeps it from writable memory that is executable, and from home
        directories (`MemoryDenyWriteExecute`, `ProtectHome`): `attache deploy systemd --helpers` leaves these two out.
        """, ManualTopic.Entry.of(CredentialDirective.helper, .environment, .keep, .path))
}

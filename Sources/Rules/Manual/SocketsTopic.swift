extension ManualTopic {
    static let sockets = ManualTopic(
        "sockets", "unix sockets, and clients that are known by their listener",
        """
        Use this page to know a client by the place where it connects, without a password. Each line of `listen` can say who its
        clients are:

            listen unix:/run/attache/ci.sock as "ci" { mode 0660; group ci }
            listen 127.0.0.1:3129 as "batch"
            credential ci { user builder; password file /etc/attache/ci.password }
            challenge { host git.example.com; secure yes; client "ci"; use ci }

        The client is then that user in rules, in sessions and in the log. It needs no login, also where `clients` says
        `authenticate`. A Proxy-Authorization that it sends changes nothing. The name is not a secret, and no client can choose
        it: who may connect decides.

        Who may connect to a unix socket is decided by the permissions of its file, and of the directories above it. `clients
        { allow … }` is about addresses, and does not apply. Rules with `client ADDRESS` do not match its clients. The log has
        "unix" as their address, and as `uid` the user id of the client's process. Who may connect to an address of the network
        is decided by `clients { allow … }`: on 127.0.0.1, every process of the machine.

        At the start, the file of a proxy that has ended is replaced. If a process answers there, or if the file is not a
        socket, the proxy does not start. When it stops, it removes the file.

        = curl
        Speaks to the socket itself: `curl --unix-socket /run/attache/ci.sock --request-target http://h/ http://h/`.

        = other tools
        Have no setting for a unix socket. socat gives them a port: `socat
        TCP-LISTEN:3128,bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/run/attache/ci.sock`. See 'attache help sandboxes'.

        `attache explain --client ci@unix URL` shows the rules for such a client.
        """, ManualTopic.Entry.of(ListenerReader.Word.mode, .group))

    static let sandboxes = ManualTopic(
        "sandboxes", "sandboxes without a network, each with an account of its own",
        """
        A sandbox without a network cannot send anything anywhere. Give it one socket of the proxy: then it reaches what the
        rules allow, with the account that the rules give to that socket, and nothing else. It holds no secret.

            listen unix:/run/attache/red.sock as "red"
            listen unix:/run/attache/blue.sock as "blue"
            credential red { user red; password file /etc/attache/red.password }
            credential blue { user blue; password file /etc/attache/blue.password }
            route git.example.com { intercept }
            route * { deny }
            challenge { host git.example.com; secure yes; client "red"; use red }
            challenge { host git.example.com; secure yes; client "blue"; use blue }

        Each sandbox sees its own socket only. Inside, socat makes a port of it, since most tools know no unix sockets. The
        tools need the CA files, too ('attache help tools'):

            sandbox.sh:
            socat TCP-LISTEN:3128,bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/tmp/proxy.sock &
            export http_proxy=http://127.0.0.1:3128 https_proxy=http://127.0.0.1:3128
            exec "$@"

        With bubblewrap, which hides the other sockets by an empty /run:

            $ bwrap --unshare-net --ro-bind / / --dev /dev --proc /proc --tmpfs /run --tmpfs /tmp --bind /run/attache/red.sock /tmp/proxy.sock sh /opt/sandbox.sh TOOL

        = docker, podman
        `docker run --network none -v /run/attache/red.sock:/tmp/proxy.sock IMAGE …`, with the same socat in the container.
        After the proxy has started again, the file is another one: mount the directory, if the container lives longer.

        = unshare
        `unshare -rn sh -c 'ip link set lo up; socat … & exec TOOL'`. The sandbox sees all files of its user: give each sandbox
        a user of its own.

        The processes of a sandbox run as a user who may write to the socket: `mode` and `group` say who that is. In a user
        namespace, the log has the user id outside of it.

        WARNING: a sandbox that can see the directory of the sockets can use all of them whose permissions allow it. Bind one
        file into each.
        """)
}

extension ListenerReader.Word {
    static let manuals: [ListenerReader.Word: DirectiveManual] = [
        .mode: DirectiveManual(
            "MODE", default: "0600", example: #"listen unix:/run/attache/ci.sock as "ci" { mode 0660; group ci }"#,
            "The permissions of the socket's file, in octal. Who may write to the file may connect."),
        .group: DirectiveManual(
            "GROUP", example: #"listen unix:/run/attache/ci.sock as "ci" { mode 0660; group ci }"#,
            """
            The group that owns the socket's file, by name or number. The proxy must be root or a member of it. The default is
            the proxy's own group.
            """),
    ]
}

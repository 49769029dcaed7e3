extension ManualTopic {
    static let dashboard = ManualTopic(
        "dashboard", "the page in the browser: what needs you, why a request failed",
        """
        The dashboard shows in a browser what the proxy does and what needs you. The line `admin` turns it on, and a command
        prints a link that logs in once, within ten minutes:

            admin 127.0.0.1:3127

            $ attache admin token

        To find out why a request failed, press /, type the host and press Enter. The page of the host has all that the proxy
        knows of it: the reason, and the button or the lines that mend it.

        The overview begins with what needs you: questions, challenges without an answer, refused credentials, certificates
        that are not trusted, parents that fail, and what expires within 30 days. Of each section it shows the first five
        entries, urgent ones first. A link above opens one section, with 50 entries a page. "300 of 603" says that 300 of 603
        entries are shown or match the filter. The page gets at most 1,000 entries of a list.

        = Filter
        Leaves in all sections the entries that have all of its words: a host, a client, a rule, a credential, a status. The
        word `failed` leaves the requests that failed.

        = Keys
        / goes to the filter. j and k go to the next row and back, and Enter opens the page of its host. Esc empties the
        filter. ? lists the keys.

        = Recent requests
        The last 1,000 requests, in at most 1 MiB of memory. Requests that failed or met a challenge are always kept. The
        others are kept only while a person is logged in to the dashboard. Each shows its client, route and rule, status,
        `Proxy-Status` and challenges. A bar shows where the time went. Connect is name lookup, TCP and TLS. Login is from the
        first challenge to the response after the last answer, without its last wait. First byte is from the request sent to
        the first byte of the response. The rest follows. Secrets in URLs are hidden as in the log. Pause holds the list. JSON
        and CSV save what the filter leaves.

        = Questions
        A question shows the method, the server, the path and the tool. The page warns you if your password would travel
        unencrypted.

        = Connection lost
        If the proxy does not respond for ten seconds, the page is dimmed, and says from when its content is.

        The page shows names, never secrets. .github/SECURITY.md says who can reach it.
        """)
}

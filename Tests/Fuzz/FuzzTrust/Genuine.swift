import Bytes

/// A chain that is valid until 2125, with a stapled response and an empty list by its CA. The keys were deleted, so
/// that no other chain can be made. Made with `openssl`: a root, a CA for example.test, a server.
enum Genuine {
    /// The server's certificate, its issuer, the stapled response, the revocation list.
    static let parts = [leaf, authority, staple, list].map { Base64.decode($0.filter { $0 != "\n" }) ?? [] }
    static let anchor = Base64.decode(root.filter { $0 != "\n" }) ?? []
    static let host = "www.example.test"
    /// 15 January 2027, 08:00.
    static let time = 1_800_000_000

    private static let leaf = """
        MIIB2jCCAYCgAwIBAgIUMidIYbcdc6L91l8+f/968UT4ErUwCgYIKoZIzj0EAwIwITENMAsGA1UECgwERnV6ejEQMA4GA1UEAwwHSXNz
        dWluZzAgFw0yNjExMjExMDA4NTBaGA8yMTI2MTAyNjEwMDg1MFowGzEZMBcGA1UEAwwQd3d3LmV4YW1wbGUudGVzdDBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABBzJOK0tx+J3hEZma4kLB1Ihy1agnwRUGGkhNDptRbBNv1CsCB6H5gAKAGQNf/tUaEtyhsfOObZkJoMo2zlj
        CPCjgZkwgZYwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwEwYDVR0lBAwwCgYIKwYBBQUHAwEwHQYDVR0OBBYEFJKKglfyR3mU
        Tlf9gd1s+elvgUhoMB8GA1UdIwQYMBaAFFUi4pauBtAqcykTu8fu/3olSsAdMCEGA1UdEQQaMBiCEHd3dy5leGFtcGxlLnRlc3SHBMAA
        AgEwCgYIKoZIzj0EAwIDSAAwRQIhAPgMD32LzwZsmbRAQry+1RCdtEGfTUhJuy1rQc8OlHWSAiBqxKGYiubjwatb5OehZKdeQ9UuP65X
        ExHoRVdMG3iF3g==
        """

    private static let authority = """
        MIIByjCCAXGgAwIBAgIUO5ZMoTuQsiVfllXEkMTAYAsVMHQwCgYIKoZIzj0EAwIwHjENMAsGA1UECgwERnV6ejENMAsGA1UEAwwEUm9v
        dDAgFw0yNjExMjExMDA4MjNaGA8yMTI2MTAyNzEwMDgyM1owITENMAsGA1UECgwERnV6ejEQMA4GA1UEAwwHSXNzdWluZzBZMBMGByqG
        SM49AgEGCCqGSM49AwEHA0IABEVx2rHc31LGv4PBiPtSTAKqzOs+OURP9X7trOaQkGAizn9KaXomH4hf82Dx6EZut/S+1YDs3e5EuWbN
        0X+4HYujgYcwgYQwEgYDVR0TAQH/BAgwBgEB/wIBADAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFFUi4pauBtAqcykTu8fu/3olSsAd
        MB8GA1UdIwQYMBaAFJV0ghikOtO/suMgmLA3XWgkU2YwMB4GA1UdHgEB/wQUMBKgEDAOggxleGFtcGxlLnRlc3QwCgYIKoZIzj0EAwID
        RwAwRAIgDaBAtdNOmW0UX4iRcMTXwG62EKlUjoslwtv9xgOXCH8CIGsFbRgUNo4zaFW2+pHB2XbIcgnIGu6CwGEH9X8+HP/3
        """

    private static let staple = """
        MIIC/AoBAKCCAvUwggLxBgkrBgEFBQcwAQEEggLiMIIC3jCBr6EjMCExDTALBgNVBAoMBEZ1enoxEDAOBgNVBAMMB0lzc3VpbmcYDzIw
        MjYxMTIxMTAwODUwWjB3MHUwTTAJBgUrDgMCGgUABBRgVjyZxv8BchyntPvkywlRHfXivAQUVSLilq4G0CpzKRO7x+7/eiVKwB0CFDIn
        SGG3HXOi/dZfPn//evFE+BK1gAAYDzIwMjYxMTIxMTAwODUwWqARGA8yMTI1MDYxNTEwMDg1MFowCgYIKoZIzj0EAwIDSAAwRQIga7ju
        j3goIOfkZRrqgvJCLo7c197PsGkOi+DQkywiFGoCIQClUI40XPgHfS45AJv8l+iBiwHzH3Qm4oSl4UHKXq/WW6CCAdIwggHOMIIByjCC
        AXGgAwIBAgIUO5ZMoTuQsiVfllXEkMTAYAsVMHQwCgYIKoZIzj0EAwIwHjENMAsGA1UECgwERnV6ejENMAsGA1UEAwwEUm9vdDAgFw0y
        NjExMjExMDA4MjNaGA8yMTI2MTAyNzEwMDgyM1owITENMAsGA1UECgwERnV6ejEQMA4GA1UEAwwHSXNzdWluZzBZMBMGByqGSM49AgEG
        CCqGSM49AwEHA0IABEVx2rHc31LGv4PBiPtSTAKqzOs+OURP9X7trOaQkGAizn9KaXomH4hf82Dx6EZut/S+1YDs3e5EuWbN0X+4HYuj
        gYcwgYQwEgYDVR0TAQH/BAgwBgEB/wIBADAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFFUi4pauBtAqcykTu8fu/3olSsAdMB8GA1Ud
        IwQYMBaAFJV0ghikOtO/suMgmLA3XWgkU2YwMB4GA1UdHgEB/wQUMBKgEDAOggxleGFtcGxlLnRlc3QwCgYIKoZIzj0EAwIDRwAwRAIg
        DaBAtdNOmW0UX4iRcMTXwG62EKlUjoslwtv9xgOXCH8CIGsFbRgUNo4zaFW2+pHB2XbIcgnIGu6CwGEH9X8+HP/3
        """

    private static let list = """
        MIG6MGICAQEwCgYIKoZIzj0EAwIwITENMAsGA1UECgwERnV6ejEQMA4GA1UEAwwHSXNzdWluZxcNMjYxMTIxMTAwODUwWhgPMjEyNTA2
        MTUxMDA4NTBaoA4wDDAKBgNVHRQEAwIBATAKBggqhkjOPQQDAgNIADBFAiBLE5gLuS6NMWN70i1iNSYC2SOiu7Bvl5zenqvh7fFkiQIh
        APa6TL8RGWu5JDorjyAJ+FqTSIr3nwbcw72EViMMB8eX
        """

    private static let root = """
        MIIBozCCAUmgAwIBAgIUAIzjzLho4W4DbC+z8DvlComBxd4wCgYIKoZIzj0EAwIwHjENMAsGA1UECgwERnV6ejENMAsGA1UEAwwEUm9v
        dDAgFw0yNjExMjExMDA4MjNaGA8yMTI2MTAyODEwMDgyM1owHjENMAsGA1UECgwERnV6ejENMAsGA1UEAwwEUm9vdDBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABAneuR9aMJrx0+o2btCBZo1X+hjJk32ADCFGit4gS+lusjw2nsm5yzsOwHVMBhXz3EzGdelIuHJ/34Bvqcnc
        QlSjYzBhMB0GA1UdDgQWBBSVdIIYpDrTv7LjIJiwN11oJFNmMDAfBgNVHSMEGDAWgBSVdIIYpDrTv7LjIJiwN11oJFNmMDAPBgNVHRMB
        Af8EBTADAQH/MA4GA1UdDwEB/wQEAwIBBjAKBggqhkjOPQQDAgNIADBFAiBSthZrvMvLr26i0e2H09rxwYcJp9XwAov9sJPWQ80MqQIh
        AMm/7RS3hS/vbu8Hzm2tbsVnbQIzz7AXyfoiWU4mo7Uq
        """
}

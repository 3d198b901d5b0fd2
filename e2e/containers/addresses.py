"""Addresses of the test server and of the hosts around it. All are from ranges for documentation, or private."""

# Addresses of the server: towards the internet, and in the private network.
HOST = "192.0.2.2"
HOST_PRIVATE = "10.99.0.2"
HOST_V6 = "2001:db8:2::2"
# The next hop of the server's default routes.
GATEWAY = "192.0.2.1"
GATEWAY_V6 = "2001:db8:2::1"

# A host in the internet. Workshops may connect to it.
INTERNET = "198.51.100.10"
INTERNET_V6 = "2001:db8:99::10"
INTERNET_NAME = "internet.example"

# The name server of /etc/resolv.conf. It is in the private network, as in most data centres.
NAME_SERVER = "10.99.0.53"
METADATA = "169.254.169.254"
METADATA_V6 = "fd00:ec2::254"
# Hosts in private networks, which workshops must not reach.
PRIVATE = ("10.99.0.1", "192.168.50.1", "172.30.0.1", "100.64.0.1", "198.18.0.1", "fd99::1")

# TCP ports on which each of the hosts above answers HTTP requests. 53 also answers DNS over UDP.
HTTP_PORTS = (53, 80, 5432)
# A UDP port on which each of the hosts above returns what it receives.
ECHO_PORT = 9999

# Addresses that the network around the server has, with the prefix length on its interface.
SURROUNDINGS = (
    f"{GATEWAY}/24", f"{GATEWAY_V6}/64", f"{INTERNET}/32", f"{INTERNET_V6}/128", f"{NAME_SERVER}/32", f"{METADATA}/32",
    f"{METADATA_V6}/128", "10.99.0.1/16", "192.168.50.1/32", "172.30.0.1/32", "100.64.0.1/32", "198.18.0.1/32",
    "fd99::1/128",
)

"""JupyterHub at its fastest: SQLite, no process to spawn, no proxy to notify, answers before a spawn is done."""

import os

from jupyterhub.proxy import Proxy
from jupyterhub.spawner import Spawner

c = get_config()  # noqa: F821
PORT = int(os.environ["BENCH_HUB_PORT"])
SERVER = int(os.environ["BENCH_SERVER_PORT"])
TOKEN = os.environ["BENCH_TOKEN"]


class Nothing(Spawner):
    """A server that already runs."""

    async def start(self):
        return "127.0.0.1", SERVER

    async def poll(self):
        return None if self.server else 0

    async def stop(self, now=False):
        pass


class Nowhere(Proxy):
    """A proxy that keeps its routes in a dictionary."""

    routes = {}

    async def add_route(self, routespec, target, data):
        self.routes[routespec] = {"routespec": routespec, "target": target, "data": data}

    async def delete_route(self, routespec):
        self.routes.pop(routespec, None)

    async def get_all_routes(self):
        return self.routes


c.JupyterHub.spawner_class = Nothing
c.JupyterHub.proxy_class = Nowhere
c.Proxy.should_start = False
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.allow_all = True
c.JupyterHub.hub_port = PORT
c.JupyterHub.hub_ip = "127.0.0.1"
c.JupyterHub.bind_url = f"http://127.0.0.1:{PORT + 1}/"
c.JupyterHub.db_url = "sqlite:///hub.sqlite"
c.JupyterHub.log_level = "ERROR"
c.JupyterHub.concurrent_spawn_limit = 0
c.JupyterHub.tornado_settings = {"slow_spawn_timeout": 0, "log_function": lambda handler: None}
c.JupyterHub.services = [{"name": "bench", "api_token": TOKEN}]
c.JupyterHub.load_roles = [{"name": "bench", "scopes": ["admin:users", "admin:servers", "list:users"],
                            "services": ["bench"]}]

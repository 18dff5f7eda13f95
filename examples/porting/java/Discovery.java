import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.x.discovery.ServiceCache;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceProvider;
import org.apache.curator.x.discovery.details.ServiceCacheListener;

/** Services: discovery.go is the same in Go. */
class Discovery {
    static ServiceDiscovery<String> serve(CuratorFramework client, String address, int port) throws Exception {
        ServiceInstance<String> me = ServiceInstance.<String>builder()
                .name("orders")
                .address(address)
                .port(port)
                .payload("v1")
                .build();
        ServiceDiscovery<String> services =
                ServiceDiscoveryBuilder.builder(String.class).client(client).basePath("/discovery").thisInstance(me).build();
        services.start();
        return services;
    }

    static ServiceCache<String> follow(ServiceDiscovery<String> services, Consumer<List<String>> changed) throws Exception {
        ServiceCache<String> orders = services.serviceCacheBuilder().name("orders").build();
        orders.addListener(new ServiceCacheListener() {
            @Override
            public void cacheChanged() {
                changed.accept(addresses(orders));
            }

            @Override
            public void stateChanged(CuratorFramework client, ConnectionState state) {}
        });
        orders.start();
        return orders;
    }

    static List<String> addresses(ServiceCache<String> orders) {
        return orders.getInstances().stream().map(i -> i.getAddress() + ":" + i.getPort()).collect(Collectors.toList());
    }

    static ServiceInstance<String> choose(ServiceProvider<String> orders) throws Exception {
        return orders.getInstance();
    }
}

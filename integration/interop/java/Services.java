import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.x.discovery.ServiceCache;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceInstanceBuilder;
import org.apache.curator.x.discovery.ServiceProvider;
import org.apache.curator.x.discovery.ServiceType;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.apache.curator.x.discovery.details.ServiceCacheListener;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;

/** Curator's service discovery as contenders of the driver: to acquire is to start, to release is to close. */
final class Services {
    private static final ObjectMapper PAYLOADS = new ObjectMapper();

    private Services() {}

    /** An instance as orders and answers have it, whatever stands on the wire. */
    record Service(
            String name,
            String id,
            String address,
            Integer port,
            Integer sslPort,
            JsonElement payload,
            String payloadClass,
            long registered,
            String type,
            String uriSpec,
            String uri,
            boolean enabled) {
        static Service of(ServiceInstance<?> i) throws JsonProcessingException {
            Object payload = i.getPayload();
            return new Service(
                    i.getName(),
                    i.getId(),
                    i.getAddress(),
                    i.getPort(),
                    i.getSslPort(),
                    payload == null ? null : JsonParser.parseString(PAYLOADS.writeValueAsString(payload)),
                    payload == null ? null : payload.getClass().getName(),
                    i.getRegistrationTimeUTC(),
                    i.getServiceType().name(),
                    text(i.getUriSpec()),
                    i.getUriSpec() == null ? null : i.buildUriSpec(),
                    i.isEnabled());
        }

        static List<Service> all(Collection<? extends ServiceInstance<?>> instances) throws JsonProcessingException {
            List<Service> all = new ArrayList<>();
            for (ServiceInstance<?> i : instances) {
                all.add(of(i));
            }
            return all;
        }

        private static String text(UriSpec spec) {
            if (spec == null) {
                return null;
            }
            StringBuilder text = new StringBuilder();
            spec.forEach(part -> text.append(part.isVariable() ? "{" + part.getValue() + "}" : part.getValue()));
            return text.toString();
        }
    }

    /** A payload of one of our own classes. */
    static final class Job {
        public String region;
        public int slots;
        public List<String> tags;
    }

    private static Class<?> payloads(Driver.Order order) {
        return switch (order.payloads) {
            case "job" -> Job.class;
            case "map" -> Map.class;
            case "string" -> String.class;
            case "long" -> Long.class;
            case "spring" -> ZookeeperInstance.class;
            default -> throw new IllegalArgumentException("unknown payloads " + order.payloads);
        };
    }

    /** The service discovery of an order, which writes "enabled" or leaves it out, as Curator's does unless asked. */
    private static <T> ServiceDiscovery<T> discovery(Driver.Order order, CuratorFramework client, Class<T> payloads) {
        return ServiceDiscoveryBuilder.builder(payloads)
                .client(client)
                .basePath(order.path)
                .serializer(
                        order.enabled
                                ? new JsonInstanceSerializer<>(payloads, false)
                                : new JsonInstanceSerializer<>(payloads))
                .build();
    }

    private static <T> ServiceInstance<T> instance(Service s, Class<T> payloads) throws Exception {
        ServiceInstanceBuilder<T> builder = ServiceInstance.<T>builder()
                .name(s.name)
                .id(s.id)
                .address(s.address)
                .payload(PAYLOADS.readValue(s.payload.toString(), payloads))
                .registrationTimeUTC(s.registered)
                .serviceType(ServiceType.valueOf(s.type))
                .enabled(s.enabled);
        if (s.port != null) {
            builder.port(s.port);
        }
        if (s.sslPort != null) {
            builder.sslPort(s.sslPort);
        }
        if (s.uriSpec != null) {
            builder.uriSpec(new UriSpec(s.uriSpec));
        }
        return builder.build();
    }

    /** Registers services and asks for them. */
    static final class Discovery extends Driver.Contender {
        private final Registry<?> registry;

        Discovery(Driver.Order order, CuratorFramework client) {
            super(order.who);
            registry = registry(order, client, payloads(order));
        }

        private static <T> Registry<T> registry(Driver.Order order, CuratorFramework client, Class<T> payloads) {
            return new Registry<>(discovery(order, client, payloads), payloads);
        }

        @Override
        List<String> acquire(Driver.Order order) throws Exception {
            registry.discovery.start();
            return List.of();
        }

        @Override
        void release(Driver.Order order) throws Exception {
            registry.discovery.close();
        }

        @Override
        void obey(Driver.Order order, Driver.Answer a) throws Exception {
            switch (order.op) {
                case "register", "update", "unregister" -> registry.change(order);
                case "names" -> a.ids = new ArrayList<>(registry.discovery.queryForNames());
                case "instances" -> a.services = Service.all(registry.discovery.queryForInstances(order.node));
                default -> super.obey(order, a);
            }
        }

        private record Registry<T>(ServiceDiscovery<T> discovery, Class<T> payloads) {
            void change(Driver.Order order) throws Exception {
                ServiceInstance<T> instance = instance(order.service, payloads);
                switch (order.op) {
                    case "register" -> discovery.registerService(instance);
                    case "update" -> discovery.updateService(instance);
                    default -> discovery.unregisterService(instance);
                }
            }
        }
    }

    /** Follows a service. Each change becomes an event with all instances. */
    static final class Cache extends Driver.Contender {
        private final ServiceDiscovery<?> discovery;
        private final ServiceCache<?> cache;

        Cache(Driver.Order order, CuratorFramework client) {
            super(order.who);
            discovery = discovery(order, client, payloads(order));
            cache = discovery.serviceCacheBuilder().name(order.node).build();
            cache.addListener(new ServiceCacheListener() {
                @Override
                public void cacheChanged() {
                    try {
                        Driver.services(who, Service.all(cache.getInstances()));
                    } catch (JsonProcessingException e) {
                        Driver.event("failed", who, System.nanoTime(), null, e.toString());
                    }
                }

                @Override
                public void stateChanged(CuratorFramework client, ConnectionState state) {}
            });
        }

        @Override
        List<String> acquire(Driver.Order order) throws Exception {
            discovery.start();
            cache.start();
            return List.of();
        }

        @Override
        void release(Driver.Order order) throws Exception {
            cache.close();
            discovery.close();
        }

        @Override
        void report(Driver.Answer a) throws Exception {
            a.services = Service.all(cache.getInstances());
        }
    }

    /** Gives out the instances of a service one after the other. */
    static final class Provider extends Driver.Contender {
        private final ServiceDiscovery<?> discovery;
        private final ServiceProvider<?> provider;

        Provider(Driver.Order order, CuratorFramework client) {
            super(order.who);
            discovery = discovery(order, client, payloads(order));
            provider = discovery.serviceProviderBuilder().serviceName(order.node).build();
        }

        @Override
        List<String> acquire(Driver.Order order) throws Exception {
            discovery.start();
            provider.start();
            return List.of();
        }

        @Override
        void release(Driver.Order order) throws Exception {
            provider.close();
            discovery.close();
        }

        /** All instances; and one, or none. */
        @Override
        void obey(Driver.Order order, Driver.Answer a) throws Exception {
            if (order.op.equals("instance")) {
                ServiceInstance<?> one = provider.getInstance();
                a.services = one == null ? List.of() : List.of(Service.of(one));
            } else {
                super.obey(order, a);
            }
        }

        @Override
        void report(Driver.Answer a) throws Exception {
            a.services = Service.all(provider.getAllInstances());
        }
    }
}

from services.bridge.main import main

main()
